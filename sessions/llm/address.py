"""Where a provider may be: the rule for its base URL, for the form that saves it and for the request that uses it.

An admin entered it, so loopback and private addresses are right (SPEC 14); what could carry a secret into logs or
lead elsewhere is not. May not: resolve or connect.
"""

from urllib.parse import urlsplit

from workspaces.errors import Invalid

DEFAULTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
MAX_LENGTH = 500


def check_base_url(url: str) -> str:
    """*url* without its trailing slashes, or Invalid. Empty stays empty: the provider kind's own address.

    Only http and https, with a host, without user, password, query or fragment, at most 500 printable ASCII characters.
    """
    url = url.strip()
    if not url:
        return ""
    if len(url) > MAX_LENGTH:
        raise Invalid(f"The base URL is longer than {MAX_LENGTH} characters.")
    if not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        raise Invalid("The base URL holds a character that does not belong in an address.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Invalid("The base URL is not an address.") from None
    if parts.scheme not in ("http", "https"):
        raise Invalid("The base URL must begin with http:// or https://.")
    if "@" in parts.netloc:
        raise Invalid("The base URL must not hold a user name or a password: enter the key as the API key.")
    if not parts.hostname or port == 0:
        raise Invalid("The base URL names no host.")
    if "?" in url or "#" in url:
        raise Invalid("The base URL must not have a query or a fragment.")
    return url.rstrip("/")


def base_url_for(kind: str, url: str) -> str:
    """The address to call: *url* if there is one, else the kind's own. Raises Invalid."""
    return check_base_url(url) or DEFAULTS.get(kind, "")
