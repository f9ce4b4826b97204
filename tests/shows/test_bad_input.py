"""Uploads over the bound, through the real server: refused in words, nothing left behind, no memory taken.

The rest of what cannot be meant is proved in tests/api, tests/workspaces and tests/console.
"""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shows.conftest import Caller
from tests.shows.console import TOKEN, Console
from tests.stack import Stack

pytestmark = pytest.mark.stack

MIB = 1024 * 1024
PIECE = b"\0" * MIB
MOST_GROWTH = 64 * MIB  # a body within the bound (25 MiB) may be held, once as it comes and once as it is handed on


def memory(pid: int, what: str = "VmRSS") -> int:
    """Bytes of a process's memory: VmRSS now, VmHWM at most since it was reset."""
    line = next(one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith(what))
    return int(line.split()[1]) * 1024


@pytest.fixture
def flat(stack: Stack) -> Iterator[None]:
    """The web process took no more memory at any time of the test, and the workspace's folder is as it was."""
    pid, before = stack.pid_of("web"), left(stack)
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # VmHWM begins anew
    had = memory(pid)
    yield
    assert memory(pid, "VmHWM") - had < MOST_GROWTH
    assert left(stack) == before


def left(stack: Stack) -> list[str]:
    """Every file, hidden half-written ones too."""
    return sorted(str(path) for path in (stack.data / "workspaces").rglob("*") if path.is_file())


def send(
    stack: Stack, path: str, pieces: Iterator[bytes], headers: dict[str, str], method: str = "PUT"
) -> tuple[int, str]:
    """Send a body piece by piece, to its end or until the server answers."""
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    connection.putrequest(method, path)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    chunked = "Transfer-Encoding" in headers
    try:
        for piece in pieces:
            connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        if chunked:
            connection.send(b"0\r\n\r\n")
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before all of it was sent, which is as good
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, said


def test_an_upload_of_200_mib_is_refused(stack: Stack, operator: Caller, flat: None) -> None:
    headers = {"Authorization": f"Bearer {operator.token}", "Content-Length": str(200 * MIB)}
    status, said = send(stack, "/api/files/big.bin", iter([PIECE] * 200), headers)
    assert status == 413 and json.loads(said)["code"] == "too_large" and "200.0 MiB" in said
    operator("GET", "/files/big.bin", status=404)


def test_so_is_one_that_does_not_say_how_long_it_is(stack: Stack, operator: Caller, flat: None) -> None:
    headers = {"Authorization": f"Bearer {operator.token}", "Transfer-Encoding": "chunked"}
    status, said = send(stack, "/api/files/big.bin", iter([PIECE] * 60), headers)
    assert status == 413 and json.loads(said)["code"] == "too_large"
    operator("GET", "/files/big.bin", status=404)


def test_so_is_one_from_a_browser(stack: Stack, flat: None) -> None:
    console = Console(stack)
    console.sign_in("admin", stack.admin_password)
    token = TOKEN.search(console.get("/w/demo/files/")[1])
    assert token
    part = 'Content-Disposition: form-data; name="{}"{}\r\n\r\n'
    head = f"--b\r\n{part.format('csrfmiddlewaretoken', '')}{token[1]}\r\n--b\r\n" + part.format(
        "files", '; filename="big.bin"'
    )
    length = len(head) + 100 * MIB + len("\r\n--b--\r\n")
    headers = {
        "Cookie": console.cookies,
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": str(length),
        "Origin": stack.base_url,
    }
    pieces = iter([head.encode(), *[PIECE] * 100, b"\r\n--b--\r\n"])
    status, said = send(stack, "/w/demo/upload/", pieces, headers, "POST")
    assert status == 413 and "at most 25 MiB" in said and "<!doctype html>" in said


def test_one_that_breaks_off_leaves_nothing(stack: Stack, operator: Caller, flat: None) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    connection.putrequest("PUT", "/api/files/half.bin")
    connection.putheader("Authorization", f"Bearer {operator.token}")
    connection.putheader("Content-Length", str(20 * MIB))
    connection.endheaders()
    for _ in range(10):
        connection.send(PIECE)
    connection.close()
    operator("GET", "/files/half.bin", status=404)
    assert stack.call("GET", "/readyz")[0] == 200


def test_25_mib_fit_and_come_back_as_they_were(stack: Stack, operator: Caller) -> None:
    headers = {"Authorization": f"Bearer {operator.token}", "Content-Length": str(25 * MIB)}
    assert send(stack, "/api/files/fits.bin", iter([PIECE] * 25), headers)[0] in (200, 201)
    assert (stack.data / "workspaces/demo/fits.bin").stat().st_size == 25 * MIB
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    connection.request("GET", "/api/files/fits.bin", headers={"Authorization": f"Bearer {operator.token}"})
    assert connection.getresponse().read() == PIECE * 25
    connection.close()
    operator("DELETE", "/files/fits.bin", status=204)
