"""What a supervisor and a monitoring system ask: /healthz, /readyz, /metrics.

/healthz touches nothing: the process answers. /readyz is 200 as long as the database answers; a broker that is down
only makes it say `degraded`, because nothing is lost without it. /metrics needs the token of LAYBY_METRICS_TOKEN as
bearer when one is set; without one it answers loopback addresses only.
"""

import hmac
from ipaddress import ip_address

import psycopg
import redis
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from config import env


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process is up."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether people can use it: {status: ready|degraded|unavailable, database, broker}; 503 without the database."""
    database, broker = database_answers(), broker_answers()
    status = "unavailable" if not database else "ready" if broker else "degraded"
    answer = {"status": status, "database": "ok" if database else "down", "broker": "ok" if broker else "down"}
    return JsonResponse(answer, status=200 if database else 503)


def database_answers(seconds: int = 2) -> bool:
    """Whether a statement gets an answer within *seconds*; over a connection of its own, because the pool waits."""
    limits = {"connect_timeout": seconds, "options": f"-c statement_timeout={seconds * 1000}"}
    try:
        with psycopg.connect(env.DATABASE_URL, **limits) as connection:  # type: ignore[arg-type]
            connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def broker_answers(seconds: float = 0.5) -> bool:
    """Whether the broker answers a ping within *seconds*."""
    try:
        with redis.Redis.from_url(
            env.redis(0), socket_connect_timeout=seconds, socket_timeout=seconds, retry=None
        ) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False


def may_scrape(request: HttpRequest) -> bool:
    """Whether the asker of /metrics may see it: the token if one is set, else a loopback address without a proxy."""
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text, computed from the database at this moment."""
    if not may_scrape(request):
        raise PermissionDenied
    from prometheus_client import generate_latest

    from config.metrics import registry

    return HttpResponse(generate_latest(registry()), content_type="text/plain; version=0.0.4; charset=utf-8")
