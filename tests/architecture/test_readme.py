"""What the code has, the README has: settings, error codes, journal kinds, the commands."""

import pytest

from tests.architecture import readme
from tests.architecture.code import ROOT

TEXT = readme.README.read_text()


@pytest.mark.parametrize("name", sorted(readme.settings_read()))
def test_every_setting_is_in_the_readme(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_the_readme_names_no_setting_that_is_not_there() -> None:
    of_tests = {"LAYBY_TEST_DB", "LAYBY_TEST_DATA", "LAYBY_REQUIRE_BROWSER"}
    assert set(readme.SETTING.findall(TEXT)) - readme.settings_read() <= of_tests


def test_its_tables_are_as_the_code_says() -> None:
    for mark in readme.tables():
        assert f"<!-- {mark} -->" in TEXT
    assert readme.written(TEXT) == TEXT, "run: python -m tests.architecture.readme"


def test_the_check_in_ci_is_the_readmes() -> None:
    command = next(line.strip() for line in TEXT.splitlines() if line.endswith("-m tests"))
    assert command.startswith("python3 -m venv .venv && ")
    assert "README.md" in (ROOT / ".ci" / "run").read_text()
