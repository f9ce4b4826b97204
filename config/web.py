"""The web process: daphne, with a bound on bodies. `python -m config.web` takes daphne's options.

Twisted keeps a whole body and daphne hands it on in one go, before Django is asked; an upload of a gigabyte would be
a gigabyte of memory. Here what is over the bound is read and dropped, and Django is told the length, so that its own
refusal (413, in the form the asker understands) is what comes back.
"""

import sys
from typing import IO, Any

from daphne import http_protocol, server
from daphne.cli import CommandLineInterface

MOST_BYTES = 26 * 1024 * 1024
"""A little over the largest upload (25 MiB and the form around it): the exact bounds are config.middleware's."""


class BoundedBody:
    """A body's file that forgets everything once it is over the bound."""

    def __init__(self, file: IO[bytes], declared: int | None) -> None:
        self.file = file
        self.length = 0
        self.dropped = declared is not None and declared > MOST_BYTES

    def write(self, data: bytes) -> int:
        self.length += len(data)
        if self.length > MOST_BYTES and not self.dropped:
            self.dropped = True
            self.file.seek(0)
            self.file.truncate()
        return len(data) if self.dropped else self.file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body takes a bounded place, whatever its sender says or does."""

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        super().gotLength(0 if length is not None and length > MOST_BYTES else length)
        self.content: Any = BoundedBody(self.content, length)
        self._parsePOSTFormSubmission = False  # Twisted would hold it twice; Django parses forms

    def process(self) -> Any:
        body, declared = self.content, self.requestHeaders.hasHeader(b"content-length")
        if isinstance(body, BoundedBody) and (body.dropped or (body.length and not declared)):
            self.requestHeaders.setRawHeaders(b"content-length", [str(body.length).encode()])
        return super().process()


class BoundedFactory(http_protocol.HTTPFactory):  # type: ignore[misc]
    """Makes connections whose requests are bounded."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


def main(arguments: list[str]) -> None:
    """Serve until told to stop."""
    server.HTTPFactory = BoundedFactory  # daphne has no option for it
    CommandLineInterface().run(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
