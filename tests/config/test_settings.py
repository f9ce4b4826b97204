"""What the environment may say, and what Django is told then. Each case is a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from csp.constants import NONCE

from config import env
from tests.stack import ROOT

SHOW = (
    "import json, django.conf; s = django.conf.settings; "
    "print(json.dumps({n: getattr(s, n) for n in json.loads(input())}, default=str))"
)
DEPLOYED = {"LAYBY_PUBLIC_URL": "https://layby.example.org"}


def run(code: str, environment: dict[str, str], data: Path, words: str = "") -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LAYBY", "DATABASE", "REDIS"))}
    given = {"LAYBY_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings", **environment}
    return subprocess.run(
        [sys.executable, "-c", code],
        input=words,
        cwd=ROOT,
        env={**kept, **given},
        capture_output=True,
        text=True,
        timeout=60,
    )


def settings(data: Path, *names: str, **environment: str) -> dict[str, object]:
    done = run(SHOW, environment, data, json.dumps(names))
    assert done.returncode == 0, done.stderr
    shown: dict[str, object] = json.loads(done.stdout)
    return shown


def test_the_deployment_check_has_no_complaint(tmp_path: Path) -> None:
    code = (
        "from django.core.management import execute_from_command_line as e; "
        "e(['manage.py', 'check', '--deploy', '--fail-level', 'WARNING'])"
    )
    done = run(code, DEPLOYED, tmp_path)
    assert done.returncode == 0, done.stderr


def test_cookies_and_redirects_follow_the_public_address(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS")
    assert not any(settings(tmp_path, *names).values())
    assert all(settings(tmp_path, *names, **DEPLOYED).values())


def test_hosts_and_origins_are_the_public_address_and_loopback(tmp_path: Path) -> None:
    found = settings(tmp_path, "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", **DEPLOYED)
    assert found["ALLOWED_HOSTS"] == ["layby.example.org", "localhost", "127.0.0.1", "[::1]"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://layby.example.org"]
    assert (
        settings(tmp_path, "PUBLIC_URL", LAYBY_HOST="0.0.0.0", LAYBY_PORT="81")["PUBLIC_URL"] == "http://127.0.0.1:81"
    )


def test_the_secret_key_is_made_once_and_kept_to_us(tmp_path: Path) -> None:
    first = settings(tmp_path / "new" / "data", "SECRET_KEY")
    file = tmp_path / "new" / "data" / "secret_key"
    assert settings(tmp_path / "new" / "data", "SECRET_KEY") == first
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(str(first["SECRET_KEY"])) >= 50


def test_a_given_address_is_taken_apart_as_libpq_does(tmp_path: Path) -> None:
    url = "postgresql://ada:p%40ss@db.example:6543/layby?sslmode=require&connect_timeout=3"
    database = settings(tmp_path, "DATABASES", DATABASE_URL=url)["DATABASES"]["default"]  # type: ignore[index]
    assert [database[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == [
        "layby",
        "ada",
        "p@ss",
        "db.example",
        "6543",
    ]
    assert database["OPTIONS"]["sslmode"] == "require"
    assert database["OPTIONS"]["connect_timeout"] == 3
    assert "statement_timeout" in database["OPTIONS"]["options"]
    assert database["OPTIONS"]["pool"]["max_size"] == 8
    assert (database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"], database["ATOMIC_REQUESTS"]) == (0, True, False)


@pytest.mark.parametrize(
    ("url", "broker", "cache"),
    [
        ("redis://:pw@host:6380/3", "redis://:pw@host:6380/3", "redis://:pw@host:6380/5"),
        ("unix:///run/v.sock?db=0", "redis+socket:///run/v.sock?virtual_host=0", "unix:///run/v.sock?db=2"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0", "unix:///run/v.sock?db=2"),
    ],
)
def test_one_address_of_valkey_is_three_databases(
    monkeypatch: pytest.MonkeyPatch, url: str, broker: str, cache: str
) -> None:
    monkeypatch.setattr(env, "REDIS_URL", url)
    assert (env.broker(), env.redis(2)) == (broker, cache)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LAYBY_SECRET_KEY", "short", "LAYBY_SECRET_KEY is too short"),
        ("LAYBY_PUBLIC_URL", "layby.example.org", "LAYBY_PUBLIC_URL is"),
        ("LAYBY_PUBLIC_URL", "https://example.org/layby", "LAYBY_PUBLIC_URL is"),
        ("LAYBY_HEARTBEAT_SECONDS", "20", "at most half of LAYBY_LEASE_SECONDS"),
        ("LAYBY_PORT", "http", "LAYBY_PORT is 'http'; it has to be a number"),
        ("LAYBY_LOG_LEVEL", "loud", "LAYBY_LOG_LEVEL is"),
        ("LAYBY_LOG_FORMAT", "xml", "LAYBY_LOG_FORMAT is"),
        ("LAYBY_SLOTS", "0", "LAYBY_SLOTS is 0; it has to be between"),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL is no Postgres address"),
        ("REDIS_URL", "http://x", "REDIS_URL has to begin with"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(tmp_path: Path, name: str, value: str, said: str) -> None:
    done = run(SHOW, {name: value}, tmp_path, '["DEBUG"]')
    assert done.returncode != 0
    assert said in done.stderr


def test_the_policy_allows_nothing_inline_and_nobody_else() -> None:
    from django.conf import settings as current

    directives = current.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert directives["default-src"] == ["'none'"]
    assert directives["script-src"] == ["'self'", NONCE]
    for name in ("style-src", "img-src", "font-src", "connect-src", "form-action"):
        assert directives[name] == ["'self'"]
    assert (directives["base-uri"], directives["frame-ancestors"]) == (["'none'"], ["'none'"])
