"""A body over its bound is refused in words, whatever its sender declares, and takes no memory."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack

MIB = 1024 * 1024


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // MIB):
        yield b"x" * MIB


def send(stack: Stack, method: str, path: str, size: int, kind: str, *, declared: bool) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
    headers = {"Content-Type": kind, **({"Content-Length": str(size)} if declared else {})}
    connection.request(method, path, pieces(size), headers, encode_chunked=not declared)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def peak_kib(stack: Stack) -> int:
    status = Path(f"/proc/{stack.pid_of('web')}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/sessions", "application/json"),
        ("/api/files/a.txt", "text/plain"),
        ("/w/demo/files/", "multipart/form-data; boundary=b"),
    ],
)
def test_three_hundred_mebibytes_are_refused_and_not_kept(stack: Stack, path: str, kind: str, declared: bool) -> None:
    method = "PUT" if "files/a" in path else "POST"
    assert stack.call("GET", "/healthz")[0] == 200
    before = peak_kib(stack)
    status, body = send(stack, method, path, 300 * MIB, kind, declared=declared)
    assert status == 413
    assert "300.0 MiB" in body
    assert peak_kib(stack) - before < 60 * 1024
    if path.startswith("/api/"):
        assert json.loads(body)["code"] == "too_large"


def test_a_json_body_without_a_length_has_the_same_bound(stack: Stack) -> None:
    assert send(stack, "POST", "/api/sessions", 2 * MIB, "application/json", declared=False)[0] == 413
    assert send(stack, "POST", "/api/sessions", 1 * MIB, "application/json", declared=False)[0] == 401
