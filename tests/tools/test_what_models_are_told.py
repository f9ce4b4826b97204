"""What a model is told of every tool is deliberate: a change of a schema or a text shows up here.

After a change that is meant: `LAYBY_WRITE_SNAPSHOT=1 python -m pytest tests/tools/test_what_models_are_told.py`.
"""

import json
import os
import re
from pathlib import Path

import pytest

from sessions.tools.registry import all_toolsets
from sessions.tools.system import toolset as system
from sessions.tools.workspace import toolset as workspace

SNAPSHOT = Path(__file__).parent / "told.json"
TOOLS = {tool.full_name: tool for toolset in (system, workspace) for tool in toolset.tools}


def told():
    return {name: {"description": tool.description, "parameters": tool.parameters} for name, tool in TOOLS.items()}


def test_every_tool_is_in_the_snapshot():
    if os.environ.get("LAYBY_WRITE_SNAPSHOT"):
        SNAPSHOT.write_text(json.dumps(told(), indent=2, ensure_ascii=False) + "\n")
    assert list(json.loads(SNAPSHOT.read_text())) == list(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_model_is_told_the_same_as_before(name):
    assert json.loads(SNAPSHOT.read_text())[name] == told()[name]


def fields(schema, path=()):
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name), inner
        yield from fields(inner, (*path, name))
    if isinstance(schema.get("items"), dict):
        yield from fields(schema["items"], path)


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_and_every_field_is_described(name):
    tool = TOOLS[name]
    assert 30 < len(tool.description) < 1024, "some providers take at most 1024 characters"
    assert tool.description.isprintable()
    assert "The result is" in tool.description or name == "system__ask_question"
    for path, schema in fields(tool.parameters):
        assert len(schema.get("description", "")) > 10, path
        assert schema["description"].endswith("."), path


@pytest.mark.parametrize("name", TOOLS)
def test_every_schema_is_what_all_providers_take(name):
    text = json.dumps(TOOLS[name].parameters)
    assert TOOLS[name].parameters["type"] == "object"
    assert not re.search(r'"(\$ref|\$defs|title|format|allOf|oneOf)":', text)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)


def test_the_tools_of_this_house_are_those_of_the_settings():
    ours = {tool.full_name for toolset in all_toolsets() for tool in toolset.tools}
    assert set(TOOLS) <= ours
