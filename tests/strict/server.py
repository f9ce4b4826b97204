"""The HTTP half of both strict servers: accept, check, remember, play the plan."""

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

from tests.strict.plan import ContextTooLong, Cut, Fault, Hang, Reply, Script, Slow, StreamError, normal


class Refused(Exception):
    """A request no strict provider takes; the text names why."""


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class StrictServer:
    """A server on a free port of 127.0.0.1, from `__enter__` to `__exit__`.

    `requests`: what came, in order; `refusals`: why requests were refused (leaving with any fails the test, unless
    `may_refuse`); `unauthorised`: how many came without the key. All safe to read at any time.
    """

    path: ClassVar[str]
    base_path: ClassVar[str]

    def __init__(
        self, script: Script = (), *, api_key: str = "test-key-0123456789", may_refuse: bool = False, port: int = 0
    ) -> None:
        self.api_key = api_key
        self.requests: list[Seen] = []
        self.refusals: list[str] = []
        self.unauthorised = 0
        self.chunk_bytes = 0
        self._may_refuse = may_refuse
        self._script = script if callable(script) else iter(script)
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._arrived = threading.Condition()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.strict = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.base_path}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [seen.body for seen in self.requests]

    def wait_for_requests(self, number: int = 1, seconds: float = 30.0) -> None:
        """Block until so many requests have come, answered or not."""
        with self._arrived:
            came = self._arrived.wait_for(lambda: len(self.requests) >= number, seconds)
        assert came, f"{len(self.requests)} of {number} requests came within {seconds} s"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is None and not self._may_refuse:
            assert self.refusals == [], f"refused by the strict provider: {self.refusals}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    # -- the vendor's half -----------------------------------------------------------------------------------------

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        """Raise Refused if the vendor would refuse *body*."""
        raise NotImplementedError

    def key_in(self, headers: Mapping[str, str]) -> str:
        raise NotImplementedError

    def error_body(self, fault: Fault) -> dict[str, Any]:
        raise NotImplementedError

    def too_long(self) -> Fault:
        raise NotImplementedError

    def whole(self, reply: Reply, model: str) -> dict[str, Any]:
        """*reply* as one JSON answer."""
        raise NotImplementedError

    def events(self, reply: Reply, model: str) -> Iterator[str]:
        """*reply* as server-sent events, one chunk each."""
        raise NotImplementedError

    def error_event(self) -> str:
        raise NotImplementedError

    # -- the common half -------------------------------------------------------------------------------------------

    def new_id(self, prefix: str) -> str:
        with self._lock:
            return f"{prefix}{next(self._ids):06d}"

    def next_item(self, messages: list[dict[str, Any]]) -> Any:
        with self._lock:
            if callable(self._script):
                return normal(self._script(messages))
            return normal(next(self._script, "The script of the server has ended."))

    def answer(self, handler: "_Handler", seen: Seen) -> None:
        if seen.path.split("?")[0] != self.path:
            return handler.error(self, Fault(404, f"Unknown path {seen.path}.", kind="not_found_error"))
        if self.key_in(seen.headers) != self.api_key:
            with self._lock:
                self.unauthorised += 1
            return handler.error(
                self,
                Fault(
                    401,
                    f"Incorrect API key provided: {self.key_in(seen.headers)}.",
                    code="invalid_api_key",
                    kind="authentication_error",
                ),
            )
        with self._arrived:
            self.requests.append(seen)
            self._arrived.notify_all()
        try:
            self.check(seen.body, seen.headers)
        except Refused as refused:
            with self._lock:
                self.refusals.append(str(refused))
            return handler.error(self, Fault(400, str(refused), kind="invalid_request_error"))
        return self._play(handler, seen)

    def _play(self, handler: "_Handler", seen: Seen) -> None:
        item, model = self.next_item(seen.body["messages"]), seen.body["model"]
        if isinstance(item, Slow):
            self._closing.wait(item.seconds)
            item = item.reply
        match item:
            case Fault():
                return handler.error(self, item)
            case ContextTooLong():
                return handler.error(self, self.too_long())
            case Hang(after=0):
                self._closing.wait(item.seconds)
                return handler.drop()
            case Reply() if not seen.body.get("stream"):
                return handler.json(200, self.whole(item, model))
        reply = item if isinstance(item, Reply) else item.reply
        handler.begin_stream()
        for number, event in enumerate(self.events(reply, model)):
            if not isinstance(item, Reply) and number == item.after:
                match item:
                    case Cut(clean=True):
                        return handler.end_stream()
                    case Hang():
                        self._closing.wait(item.seconds)
                    case StreamError():
                        handler.chunk(self.error_event(), self.chunk_bytes)
                return handler.drop()
            handler.chunk(event, self.chunk_bytes)
        return handler.end_stream()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    strict: StrictServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that hang up are part of the tests


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(raw)
        except ValueError as error:
            self.server.strict.refusals.append(f"not JSON: {error}")
            return self.json(400, {"error": {"message": f"We could not parse the JSON body: {error}"}})
        return self.server.strict.answer(self, Seen(self.path, headers, body))

    def do_GET(self) -> None:
        self.json(404, {"error": {"message": "Not found."}})

    def error(self, strict: StrictServer, fault: Fault) -> None:
        self.json(fault.status, strict.error_body(fault), fault.headers)

    def json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, event: str, size: int) -> None:
        """One event, in HTTP chunks of *size* bytes (0: whole), so that characters are split between reads."""
        raw = event.encode("utf-8", "surrogatepass")
        for start in range(0, len(raw), size or len(raw)):
            piece = raw[start : start + (size or len(raw))]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.flush()

    def end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Let the connection die without a word."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        pass
