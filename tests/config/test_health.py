"""What supervisors and monitoring are told."""

import pytest
from django.test import Client
from pytest_django import Settings


def test_a_living_process_says_so_without_touching_anything(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_with_database_and_broker_it_is_ready(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.json() == {"status": "ready", "database": "ok", "broker": "ok"}


@pytest.mark.django_db
def test_a_broker_that_is_away_only_degrades(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.env.REDIS_URL", "unix:///nowhere/valkey.sock")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")


def test_without_the_database_it_is_unavailable(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.env.DATABASE_URL", "postgresql:///layby?host=/nowhere")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")


@pytest.mark.django_db
def test_metrics_answer_loopback_only_unless_there_is_a_token(client: Client, settings: Settings) -> None:
    assert b"layby_broker_up 1.0" in client.get("/metrics").content
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 403
    settings.METRICS_TOKEN = "a-token-for-scraping"
    assert client.get("/metrics").status_code == 403
    allowed = client.get("/metrics", headers={"Authorization": "Bearer a-token-for-scraping"}, REMOTE_ADDR="192.0.2.7")
    assert allowed.status_code == 200
