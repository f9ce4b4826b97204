"""What stands in the frame of every page of a workspace: what needs a person, and the workers."""

import pytest
from django.test import RequestFactory

from sessions.views.frame import rail
from tests.console.conftest import get, page_of
from tests.sessions.conftest import the_wait

pytestmark = pytest.mark.django_db(transaction=True)


def test_pages_of_other_rooms_get_the_numbers_when_they_ask(waiting, acme, other, django_assert_num_queries):
    waiting()
    request = RequestFactory().get("/")
    assert rail(request) == {}
    request.workspace = acme
    with django_assert_num_queries(0):
        found = rail(request)
    with django_assert_num_queries(2):
        assert found["needs"]() == 1 and found["workers"]().parked == 1 and found["workers"]().alive == 1
    request.workspace = other
    assert rail(request)["needs"]() == 0


def test_the_count_goes_when_nobody_is_needed(waiting, alice, browser_of):
    session, client = waiting(), browser_of(alice)
    assert "<title>(1) " in get(client, page_of(session)) and "1 worker · 0 of 4 slots" in get(client, page_of(session))
    client.post(page_of(session, f"yields/{the_wait(session).pk}/answer/"), {"response": "x"})
    assert "<title>(" not in get(client, page_of(session))
