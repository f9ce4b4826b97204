"""How every process writes its log: one line per entry on standard error, JSON or for a person's eyes.

Invariants: no raw control or invisible character of anybody's text reaches a log (a line is one entry, a terminal is
not steered); what looks like a secret is replaced before any renderer sees it.
"""

import logging
import os
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

Entry = MutableMapping[str, Any]

REDACTED = "[redacted]"
SECRET_NAME = re.compile(
    r"(^|_|-)(password|passwd|secret|secret_?key|token|api_?key|authorization|cookie|credentials?)$", re.IGNORECASE
)
SECRET_TEXT = re.compile(
    r"layby_[A-Za-z0-9_\-]{16,}"  # our API tokens
    r"|(?<=Bearer )\S+"
    r"|\bsk-[A-Za-z0-9_\-]{12,}"  # keys of model providers
    r"|\bgAAAA[A-Za-z0-9_\-=]{40,}"  # Fernet
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",  # user:password in an address
    re.IGNORECASE,
)
UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
MANY_LINES = {"exception", "stack"}
MAX_TEXT = 20_000
# Values of these are never written, whatever the key they come under.
_literal = [os.environ.get(name, "") for name in ("LAYBY_SECRET_KEY", "LAYBY_ADMIN_PASSWORD", "LAYBY_METRICS_TOKEN")]
LITERAL_SECRETS = [value for value in _literal if len(value) >= 6]


def escaped(text: str, keep: str = "") -> str:
    """*text* with every control, bidi and zero-width character spelt out; those in *keep* stay."""
    return UNSAFE.sub(lambda m: m[0] if m[0] in keep else ascii(m[0])[1:-1], text)


def without_secrets(text: str) -> str:
    """*text* with what looks like a token, a key or a password replaced."""
    for secret in LITERAL_SECRETS:
        text = text.replace(secret, REDACTED)
    return SECRET_TEXT.sub(REDACTED, text)


def _clean(value: Any, name: str, keep: str = "") -> Any:
    if isinstance(value, str | bytes | Exception):
        if SECRET_NAME.search(name):
            return REDACTED
        text = value if isinstance(value, str) else str(value)
        if len(text) > MAX_TEXT:
            text = f"{text[: MAX_TEXT // 2]} … {len(text) - MAX_TEXT} characters … {text[-MAX_TEXT // 2 :]}"
        return escaped(without_secrets(text), keep)
    if isinstance(value, dict):
        return {_clean(str(key), ""): _clean(inner, str(key), keep) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(inner, name, keep) for inner in value]
    return value if isinstance(value, int | float | bool | None) else _clean(str(value), name, keep)


def clean(logger: Any, method: str, entry: Entry) -> Entry:
    """The structlog processor that keeps both invariants, for our entries and for the libraries'."""
    for key in list(entry):
        if not key.startswith("_"):
            entry[key] = _clean(entry[key], key, "\n\t" if key in MANY_LINES else "")
    return entry


def _process_name(logger: Any, method: str, entry: Entry) -> Entry:
    entry.setdefault("process", os.environ.get("LAYBY_PROCESS", "layby"))
    return entry


def logging_config(level: str, form: str) -> dict[str, Any]:
    """The dictConfig of this process; configures structlog on the way.

    *form* is `json`, `console` or `auto` (console on a terminal, else JSON).
    """
    for_people = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _process_name,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *[step for step in shared if not isinstance(step, structlog.stdlib.ExtraAdder)],
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
        if for_people
        else structlog.processors.JSONRenderer()
    )
    quiet = {"level": max(logging.WARNING, logging.getLevelNamesMapping()[level])}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, clean, renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            # django_structlog's line about the request says the same with more.
            "django.request": {"level": "CRITICAL"},
            "django.channels.server": quiet,
            "daphne": quiet,
            "celery.worker.strategy": quiet,
            "celery.app.trace": quiet,
            "httpx": quiet,
            "asyncio": quiet,
        },
    }
