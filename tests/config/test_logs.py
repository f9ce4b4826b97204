"""What reaches a log: no secrets, no characters that steer a terminal or fake a line."""

import json
import logging
from io import StringIO

import pytest
import structlog

from config.logs import escaped, logging_config

HOSTILE = [
    "\x1b[2J",
    "a\rb",
    "a\nlevel=fatal",
    "\x1b]8;;http://x\x07",
    "\x9b31m",
    "\u202etxt.exe",
    "\u200b",
    "\x00",
    "\x7f",
]


def line(form: str, event: str, **values: object) -> str:
    """The one line that an entry becomes."""
    config = logging_config("INFO", form)
    formatter = config["formatters"]["line"]
    made = formatter["()"](foreign_pre_chain=formatter["foreign_pre_chain"], processors=formatter["processors"])
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(made)
    logger = logging.getLogger("tests.of.logs")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    structlog.wrap_logger(
        logger, processors=structlog.get_config()["processors"], wrapper_class=structlog.stdlib.BoundLogger
    ).info(event, **values)
    logger.info(f"{event} %s", values)
    return written.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("text", HOSTILE)
def test_control_and_invisible_characters_are_spelt_out(form: str, text: str) -> None:
    written = line(form, f"said {text}", by=text, inner={"deep": [text]})
    assert text not in written
    assert written.count("\n") == 2
    assert written.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", ["json", "console"])
def test_what_looks_like_a_secret_is_not_written(form: str) -> None:
    secrets = {
        "api_key": "abcdef-no-pattern",
        "password": "hunter2-hunter2",
        "note": "use layby_0123456789abcdefghij please",
        "header": "Bearer eyJhbGciOi",
        "key": "sk-abcdefghijklmnop",
        "url": "postgresql://layby:s3cr3t-word@db/layby",
        "inner": {"token": "deep-secret-value", "list": [{"cookie": "crumbs"}]},
    }
    written = line(form, "configured", **secrets)
    for secret in (
        "abcdef-no-pattern",
        "hunter2",
        "layby_0123",
        "eyJhbGciOi",
        "sk-abcdefgh",
        "s3cr3t-word",
        "deep-secret",
        "crumbs",
    ):
        assert secret not in written.split("\n")[0], secret
    # Library entries are one text; what has a pattern is found there too.
    for secret in ("layby_0123", "eyJhbGciOi", "sk-abcdefgh", "s3cr3t-word"):
        assert secret not in written, secret


def test_a_count_of_tokens_is_no_secret() -> None:
    entry = json.loads(line("json", "replied", tokens=12, input_tokens=3, token_count="7").split("\n")[0])
    assert (entry["tokens"], entry["input_tokens"], entry["token_count"]) == (12, 3, "7")


def test_an_entry_is_bounded() -> None:
    assert len(line("json", "x" * 1_000_000)) < 50_000


def test_a_trace_keeps_its_lines_for_a_person() -> None:
    assert escaped("a\nb\x1b", keep="\n") == "a\nb\\x1b"
