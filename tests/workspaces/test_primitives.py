"""Ids, clocks, secrets, errors."""

import uuid
from datetime import UTC

import pytest

from workspaces import clock, secrets
from workspaces.errors import AlreadyExists, Invalid, NotFound, problem
from workspaces.ids import new_id, parse_id


def test_ids_are_version_7_and_grow():
    ids = [new_id() for _ in range(200)]
    assert type(ids[0]) is uuid.UUID
    assert ids[0].version == 7
    assert ids == sorted(ids)
    assert len(set(ids)) == 200


def test_what_is_no_id_is_none():
    assert parse_id("../x") is None
    assert parse_id(str(some := new_id())) == some


def test_both_clocks_are_in_utc_and_agree_here(db):
    assert clock.now().tzinfo is UTC
    assert clock.db_now().tzinfo is UTC
    assert abs((clock.db_now() - clock.now()).total_seconds()) < 5


def test_a_secret_comes_back_and_is_not_readable_in_between():
    encrypted = secrets.encrypt("sk-live-é")
    assert "sk-live" not in encrypted
    assert secrets.decrypt(encrypted) == "sk-live-é"


def test_a_secret_of_another_key_is_a_clear_error(settings):
    encrypted = secrets.encrypt("sk")
    settings.SECRET_KEY = "y" * 50
    with pytest.raises(Invalid, match="can't be read with this LAYBY_SECRET_KEY"):
        secrets.decrypt(encrypted)


def test_an_error_is_its_docstring_unless_told_otherwise():
    assert NotFound().message == "There is nothing here by that name or id."
    assert NotFound("No such file.").message == "No such file."


def test_an_error_becomes_a_problem_with_its_extra_members():
    assert problem(AlreadyExists("Taken.", slug="acme", status="no")) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "code": "already_exists",
        "detail": "Taken.",
        "slug": "acme",
    }
