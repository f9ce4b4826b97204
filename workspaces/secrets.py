"""Secrets at rest: the keys of model providers and the like.

Lives here: encrypting and decrypting one text. The key is derived from `settings.SECRET_KEY`, so what was encrypted
is readable only while that key stays the same. May not: log, cache or show what it decrypts.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.encoding import force_bytes

from workspaces.errors import Invalid


def encrypt(text: str) -> str:
    """*text* encrypted (Fernet: AES-128-CBC with HMAC-SHA256), as URL-safe ASCII."""
    return _fernet().encrypt(text.encode("utf-8")).decode("ascii")


def decrypt(encrypted: str) -> str:
    """What was given to `encrypt`. Raises Invalid if it was made with another key or was changed."""
    try:
        return _fernet().decrypt(encrypted.encode("ascii")).decode("utf-8")
    except (InvalidToken, UnicodeError):
        raise Invalid("A stored secret can't be read with this LAYBY_SECRET_KEY. Enter the secret again.") from None


def _fernet() -> Fernet:
    # A label of its own, so that this key is never one Django derives for signing.
    digest = hashlib.sha256(b"layby.secrets.v1:" + force_bytes(settings.SECRET_KEY)).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
