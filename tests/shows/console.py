"""The console without a browser: a person's cookies, pages as text, forms as POSTs."""

import re
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

from tests.stack import Stack

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Console:
    """Somebody at the console of a running stack."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._jar = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._jar))

    @property
    def cookies(self) -> str:
        """What the person's browser sends as its cookies."""
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self._jar)

    def get(self, path: str) -> tuple[int, str]:
        """A page, after redirects: its status and its text."""
        return self._send(urllib.request.Request(self.stack.base_url + path))

    def post(self, path: str, fields: dict[str, str], form: str = "") -> tuple[int, str]:
        """Send a form that stands on the page *form* (else on *path* itself)."""
        found = TOKEN.search(self.get(form or path)[1])
        data = {**fields, "csrfmiddlewaretoken": found[1] if found else ""}
        request = urllib.request.Request(self.stack.base_url + path, urllib.parse.urlencode(data).encode())
        return self._send(request)

    def sign_in(self, name: str, password: str) -> tuple[int, str]:
        return self.post("/accounts/login/", {"login": name, "password": password})

    def _send(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=30) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
