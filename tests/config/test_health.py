"""What supervisors and monitoring are told."""

import pytest
from django.test import Client


def test_a_living_process_says_so_without_touching_anything(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_with_database_and_broker_it_is_ready(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.json() == {"status": "ready", "database": "ok", "broker": "ok"}
