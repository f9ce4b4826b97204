"""Which tools an agent has: what it binds, less its exceptions, less what its surface and policy hide (case I03)."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from sessions.contracts import Tool, Toolset
from sessions.tools import registry
from sessions.tools.registry import all_toolsets, check_alike, check_binding, nearest, toolbox
from workspaces.errors import Invalid

SYSTEM = ["system__ask_user", "system__inform_user", "system__get_datetime"]
WORKSPACE = [f"workspace__{name}" for name in ("list_files", "read_file", "write_file", "edit_file", "glob", "grep")]


@pytest.fixture(autouse=True)
def _toolsets(settings):
    settings.TOOLSETS = {"system": "sessions.tools.system.toolset", "workspace": "sessions.tools.workspace.toolset"}


def names(bound, surface="workspace", **suspension):
    return list(toolbox(bound, surface, suspension).tools)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ([], []),
        (["system"], SYSTEM),
        (["workspace", "system"], SYSTEM + WORKSPACE),
        (["workspace__grep", "workspace__glob"], ["workspace__glob", "workspace__grep"]),
        (["system", "-system__ask_user"], SYSTEM[1:]),
        (["-system__ask_user", "system"], SYSTEM[1:]),
        (["system", "workspace", "-workspace"], SYSTEM),
        (["workspace", "-workspace", "workspace__grep"], []),
        (["-workspace"], []),
    ],
)
def test_an_agent_has_what_it_binds_less_its_exceptions(bound, expected):
    assert names(bound) == expected


def test_workspace_tools_are_not_there_on_a_chat_even_if_bound():
    box = toolbox(["system", "workspace", "workspace__grep"], "chat", {})
    assert list(box.tools) == SYSTEM
    assert [spec.name for spec in box.specs()] == SYSTEM
    assert box.get("workspace__grep") is None
    assert "There is no tool" in box.missing("workspace__grep")


@pytest.mark.parametrize("granted", [False, None, 1, "true", "yes", {}])
def test_ask_question_is_there_only_if_the_policy_says_exactly_true(granted):
    assert "system__ask_question" not in names(["system", "system__ask_question"], may_ask_questions=granted)
    assert "system__ask_question" in names(["system"], may_ask_questions=True)
    assert "system__ask_question" in names(["system"], "chat", may_ask_questions=True)
    assert toolbox(["system"], "workspace", {"may_ask_questions": granted}).get("system__ask_question") is None


def test_a_surface_nobody_declared_has_no_tools():
    assert names(["system"], "moon") == []


def test_the_model_is_told_name_description_and_schema():
    (spec,) = toolbox(["system__inform_user"], "workspace", {}).specs()
    tool = toolbox(["system__inform_user"], "workspace", {}).get("system__inform_user")
    assert (spec.name, spec.description, spec.parameters) == (tool.full_name, tool.description, tool.parameters)


def test_a_binding_that_names_what_was_removed_keeps_the_rest_and_says_so():
    box = toolbox(["system", "mail__send", "-mail__read", "gone"], "workspace", {})
    assert list(box.tools) == SYSTEM
    assert box.unknown == ("mail__send", "gone")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " system__ask_user",
        "system__ask_user\n",
        "System__Ask_User",
        "system__ask-user",
        "ask_user",
        "system",
        "system__",
        "-system__ask_user",
        "system__ask_user\x00",
        "x" * 300,
        "system__ask_question",
        "\u202eresu_ksa__metsys",
        "\ud83d",
        "../system__ask_user",
    ],
    ids=ascii,
)
def test_any_other_name_is_no_tool_and_the_error_lists_those_there_are(name):
    box = toolbox(["system"], "workspace", {})
    assert box.get(name) is None
    text = box.missing(name)
    assert text.startswith("There is no tool ")
    assert "Available tools: system__ask_user, system__inform_user, system__get_datetime." in text
    assert text.isprintable()
    assert len(text) < 1000


@pytest.mark.parametrize(
    "name", ["System__Ask_User", "system__ask-user", "ask_user", "system__askuser", "system_ask_user"]
)
def test_a_near_name_gets_a_suggestion(name):
    assert "Did you mean system__ask_user?" in toolbox(["system"], "workspace", {}).missing(name)


def test_a_suggestion_never_names_a_hidden_tool():
    assert "ask_question" not in toolbox(["system"], "workspace", {}).missing("system__ask_question").partition(".")[2]
    assert nearest("grep", {"workspace__read_file": 1}) is None


def test_an_agent_without_tools_is_told_so():
    assert toolbox([], "workspace", {}).missing("x") == 'There is no tool "x". No tools are available.'


def test_the_list_of_available_tools_is_bounded():
    tools = {f"many__tool_{n}": None for n in range(1000)}
    text = registry.Toolbox(tools).missing("nothing like it")
    assert len(text) < 2500
    assert text.endswith("more.")


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (["systm"], 'tools: "systm" is not known (did you mean system?). The toolsets are: system, workspace.'),
        (["system__ask"], "did you mean system__ask_user?"),
        (["Workspace"], "did you mean workspace?"),
        (["read_file"], "did you mean workspace__read_file?"),
        (["system", "-system__ask_usr"], '"-system__ask_usr" is not known (did you mean -system__ask_user?)'),
        (["-systm"], "did you mean -system?"),
        (["--system"], '"--system" is not known'),
        (["system__*"], '"system__*" is not known'),
        (["*"], '"*" is not known'),
        (["", "-"], '"" is not known; "-" is not known'),
        (["a\n\u202e", "system"], '"a\\n\\u202e" is not known'),
        (["x" * 300], '…" is not known'),
        ([f"x{n}y" for n in range(9)], "; and 4 more."),
        (["system"] * 501, "at most 500 entries"),
    ],
)
def test_a_binding_that_names_nothing_here_is_refused_with_what_was_meant(bound, words):
    with pytest.raises(Invalid) as caught:
        check_binding(bound)
    assert words in caught.value.message
    assert caught.value.message.isprintable()


def test_a_binding_of_what_there_is_is_taken():
    check_binding([])
    check_binding(["system", "workspace__grep", "-workspace", "-system__ask_user", "system__ask_question"])


def test_the_editor_gets_every_tool_also_those_an_agent_may_not_have():
    assert [toolset.name for toolset in all_toolsets()] == ["system", "workspace"]
    assert [tool.name for tool in all_toolsets()[0].tools] == [
        "ask_user",
        "ask_question",
        "inform_user",
        "get_datetime",
    ]
    assert all(toolset.description for toolset in all_toolsets())


def test_the_registry_is_loaded_once():
    assert all_toolsets()[0] is all_toolsets()[0]
    assert toolbox(["system"], "workspace", {}) is toolbox(["system"], "workspace", {"other": True})


# -- what stops a process from starting --------------------------------------------------------------------------


def made(toolset="notes", name="find", description="Find.", parameters=None):
    return Tool(toolset, name, description, parameters or {"type": "object"}, lambda context, arguments: None)


notes = Toolset("notes", "", (made(),))
more_notes = Toolset("notes", "Short notes.", (made(name="send"),))
same_notes = Toolset("notes", "", (made(),))
alike_notes = Toolset("notes", "", (made(), made(name="Find")))
stranger = Toolset("notes", "", (made("other"),))
wordless = Toolset("notes", "", (made(description=" "),))
schemaless = Toolset("notes", "", (made(parameters={"type": "strin"}),))
long_named = Toolset("notes", "", (made(name="x" * 60),))
double = Toolset("notes", "", (made(name="a__b"),))
spaced = Toolset("notes", "", (made(name="a b"),))
foreign = Toolset("notes", "", (made(name="fínd"),))
lined = Toolset("notes", "", (made(name="find\n"),))
nameless = Toolset("notes", "", (made(name=""),))
not_a_toolset = "notes"


def test_a_toolset_may_be_made_of_several_parts(settings):
    settings.TOOLSETS = {"notes": [f"{__name__}.notes", f"{__name__}.more_notes"]}
    (toolset,) = all_toolsets()
    assert (toolset.name, toolset.description) == ("notes", "Short notes.")
    assert names(["notes"]) == ["notes__find", "notes__send"]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["no.such.module"], "can't be imported"),
        ([f"{__name__}.nothing"], "can't be imported"),
        ([f"{__name__}.not_a_toolset"], "is not a Toolset"),
        (["sessions.tools.system.toolset"], "calls itself 'system'"),
        ([f"{__name__}.notes", f"{__name__}.same_notes"], "Two tools are called notes__find"),
        ([f"{__name__}.alike_notes"], "notes__find and notes__Find look alike"),
        ([f"{__name__}.stranger"], "other__find is listed in the toolset 'notes'"),
        ([f"{__name__}.wordless"], "no description"),
        ([f"{__name__}.schemaless"], "not a JSON Schema"),
        ([f"{__name__}.long_named"], "longer than 64"),
        ([f"{__name__}.double"], "can't be part of a tool's name"),
        ([f"{__name__}.spaced"], "can't be part of a tool's name"),
        ([f"{__name__}.foreign"], "can't be part of a tool's name"),
        ([f"{__name__}.lined"], "can't be part of a tool's name"),
        ([f"{__name__}.nameless"], "can't be part of a tool's name"),
    ],
)
def test_a_registry_that_could_mislead_stops_the_process(settings, paths, words):
    settings.TOOLSETS = {"notes": paths}
    with pytest.raises(ImproperlyConfigured, match=words):
        all_toolsets()


@pytest.mark.parametrize(
    "pair",
    [("read_file", "Read_File"), ("read_file", "read-file"), ("tool1", "tooll"), ("toolI", "tooll"), ("v0", "vO")],
)
def test_names_that_look_alike_are_refused(pair):
    with pytest.raises(ImproperlyConfigured, match="look alike"):
        check_alike(["other", *pair])


def test_names_that_only_resemble_each_other_are_taken():
    check_alike(["tail", "tall", "glob", "grep", "read_file", "read_files"])
