"""A workspace's file as an HTTP response that no browser ever runs or shows as a page of ours."""

import asyncio
import os
from collections.abc import AsyncIterator
from io import BufferedReader

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

CHUNK = 64 * 1024


class _Chunks:
    """The file in pieces, read off the event loop; closed with the response."""

    def __init__(self, file: BufferedReader) -> None:
        self.file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(self.file.read, CHUNK):
            yield piece

    def close(self) -> None:
        self.file.close()


def download(file: BufferedReader, name: str) -> StreamingHttpResponse:
    """*file* as an attachment called *name*, in pieces of 64 KiB; closes the file."""
    response = StreamingHttpResponse(_Chunks(file), content_type="application/octet-stream")
    response["Content-Length"] = str(os.fstat(file.fileno()).st_size)
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = "private, no-store"
    return response
