"""Everything that the environment may set, read once, with its default and its bounds.

README.md has the same list for people; an architecture test compares the two. No other module reads os.environ for a
LAYBY_ name, except the launcher, which runs before Django.
"""

import os
import secrets
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from config.launch import places
from config.launch.children import LaunchError

BASE_DIR = Path(__file__).resolve().parent.parent

_env = environ.Env()


def _number(name: str, default: float, least: float, most: float) -> float:
    try:
        value: float = _env.float(name, default=default)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {os.environ[name]!r}; it has to be a number.") from None
    if not least <= value <= most:
        raise ImproperlyConfigured(f"{name} is {value:g}; it has to be between {least:g} and {most:g}.")
    return value


def _one_of(name: str, default: str, *others: str) -> str:
    value: str = _env.str(name, default=default)
    if value not in (default, *others):
        raise ImproperlyConfigured(f"{name} is {value!r}; it has to be one of {', '.join((default, *others))}.")
    return value


def _data() -> Path:
    given: str = _env.str("LAYBY_DATA", default="")
    return Path(given).expanduser().absolute() if given else BASE_DIR / ".layby"


DATA = _data()
"""The data folder: database, files of the workspaces, secret key, logs."""

HOST: str = _env.str("LAYBY_HOST", default="127.0.0.1")
PORT = int(_number("LAYBY_PORT", 8000, 0, 65535))


def _public_url() -> SplitResult:
    # A wildcard address is no address that a browser can open.
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(HOST, f"[{HOST}]" if ":" in HOST else HOST)  # noqa: S104
    given: str = _env.str("LAYBY_PUBLIC_URL", default=f"http://{host}:{PORT}")
    url = urlsplit(given.rstrip("/"))
    if url.scheme not in ("http", "https") or not url.hostname or url.path or url.query or url.fragment:
        raise ImproperlyConfigured(f"LAYBY_PUBLIC_URL is {given!r}; it has to look like https://layby.example.org.")
    return url


PUBLIC_URL = _public_url()

DATABASE_URL: str = _env.str("DATABASE_URL", default="") or places.database_url(places.socket_folder(DATA))
REDIS_URL: str = _env.str("REDIS_URL", default="") or places.redis_url(places.socket_folder(DATA))

ADMIN_PASSWORD: str = _env.str("LAYBY_ADMIN_PASSWORD", default="")
METRICS_TOKEN: str = _env.str("LAYBY_METRICS_TOKEN", default="")
LOG_LEVEL: str = _one_of("LAYBY_LOG_LEVEL", "INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL")
LOG_FORMAT: str = _one_of("LAYBY_LOG_FORMAT", "auto", "json", "console")
YIELD_TIMEOUT_CAP_SECONDS = _number("YIELD_TIMEOUT_CAP_SECONDS", 3600, 1, 30 * 86400)
LEASE_SECONDS = _number("LAYBY_LEASE_SECONDS", 30, 0.5, 600)
HEARTBEAT_SECONDS = _number("LAYBY_HEARTBEAT_SECONDS", 10, 0.1, 200)
STOP_SECONDS = _number("LAYBY_STOP_SECONDS", 60, 0, 3600)
SLOTS = int(_number("LAYBY_SLOTS", 32, 1, 512))

if HEARTBEAT_SECONDS > LEASE_SECONDS / 2:
    raise ImproperlyConfigured("LAYBY_HEARTBEAT_SECONDS has to be at most half of LAYBY_LEASE_SECONDS.")


def agree_with_services() -> None:
    """Raise LaunchError if services were started elsewhere than where the settings, read before, look for them."""
    sockets = places.socket_folder(DATA)
    named = {"DATABASE_URL": places.database_url(sockets), "REDIS_URL": places.redis_url(sockets)}
    ours = {"DATABASE_URL": DATABASE_URL, "REDIS_URL": REDIS_URL}
    if any(ours[name] != named[name] for name in named if not os.environ.get(name)):
        raise LaunchError("The services of this data folder moved while this command was starting. Run it again.")


def secret_key() -> str:
    """The key of LAYBY_SECRET_KEY, else the one kept in DATA/secret_key (mode 0600, made when it isn't there).

    Losing it makes stored provider keys unreadable and signs everybody out; it is part of a backup.
    """
    given: str = _env.str("LAYBY_SECRET_KEY", default="")
    if given:
        if len(given) < 50:
            raise ImproperlyConfigured("LAYBY_SECRET_KEY is too short: give it at least 50 random characters.")
        return given
    path = DATA / "secret_key"
    if not path.exists():
        DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Written aside and linked, so that two first starts agree on one key and nobody reads half of it.
        aside = path.with_name(f"secret_key.{os.getpid()}")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return path.read_text().strip()


def database() -> dict[str, object]:
    """The parts of DATABASE_URL that Django wants: a libpq address, its further parameters as options."""
    try:
        parts = conninfo_to_dict(DATABASE_URL)
    except ProgrammingError as error:
        raise ImproperlyConfigured(f"DATABASE_URL is no Postgres address: {error}") from None
    named = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    return {
        **{django: parts.pop(libpq, "") or "" for django, libpq in named.items()},
        "OPTIONS": {key: value for key, value in parts.items() if value is not None},
    }


def redis(offset: int) -> str:
    """REDIS_URL with its database number raised: 0 is the broker, 1 the channel layer, 2 the cache."""
    url = urlsplit(REDIS_URL)
    if url.scheme == "unix":
        kept = [part for part in url.query.split("&") if part and not part.startswith("db=")]
        first = next((int(part[3:]) for part in url.query.split("&") if part.startswith("db=")), 0)
        return f"unix://{url.path}?" + "&".join([*kept, f"db={first + offset}"])
    if url.scheme in ("redis", "rediss"):
        first = int(url.path.strip("/") or 0)
        return url._replace(path=f"/{first + offset}").geturl()
    raise ImproperlyConfigured("REDIS_URL has to begin with redis://, rediss:// or unix://.")


def broker() -> str:
    """REDIS_URL as kombu spells it: a socket is `redis+socket://PATH?virtual_host=N`."""
    url = redis(0)
    if url.startswith("unix://"):
        return url.replace("unix://", "redis+socket://", 1).replace("db=", "virtual_host=")
    return url
