"""Which tools there are, and which of them an agent has.

Lives here: the toolsets named in `settings.TOOLSETS`, an agent's binding list, and the toolbox made from both.
May not: run a tool, know a row, decide whether a call is gated.
Invariants:
- full names are unique in this process, and no two of them look alike, so that what a policy or a person reads as one
  tool is one tool; whatever breaks this stops the process when the registry is first used;
- a tool that is hidden (not bound, excepted, of another surface, `requires` not granted) is in no part of the
  `Toolbox`: the model is not told of it and `get` does not find it;
- a minus always wins, wherever it stands in the list.

`settings.TOOLSETS` maps a toolset's name to the dotted path of a `Toolset`, or to several paths whose tools together
make that toolset (a feature on top may add tools to `workspace_ext`). Loaded once per process.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from sessions.contracts import Tool, Toolset, ToolSpec
from sessions.tools import schemas
from sessions.tools.wording import listed, shown
from workspaces.errors import Invalid

MAX_NAME = 64
MAX_BOUND = 500
_PART = re.compile(r"[a-zA-Z0-9_-]+")
_ALIKE = str.maketrans({"I": "l", "1": "l", "0": "O", "-": "_"})


@dataclass(frozen=True)
class Toolbox:
    """The tools one agent has on one surface. `unknown`: names it binds that exist no more (a tool was removed)."""

    tools: Mapping[str, Tool]
    unknown: tuple[str, ...] = ()
    _specs: tuple[ToolSpec, ...] = field(default=(), repr=False, compare=False)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told, in the order of the toolsets: the same binding gives the same list."""
        return self._specs

    def get(self, name: str) -> Tool | None:
        """The tool of that full name, exactly; None if this agent does not have it."""
        return self.tools.get(name)

    def missing(self, name: str) -> str:
        """The error result for a call of *name*, which is not here: the nearest name and those there are (bounded)."""
        text = f"There is no tool {shown(name)}."
        if near := nearest(name, self.tools):
            text += f" Did you mean {near}?"
        if not self.tools:
            return f"{text} No tools are available."
        return f"{text} Available tools: {listed(self.tools)}."


def all_toolsets() -> list[Toolset]:
    """Every toolset with all its tools, in the order of the settings: for the agents' editor."""
    return list(_registry().toolsets)


def toolbox(bound: Sequence[str], surface: str, suspension: Mapping[str, Any]) -> Toolbox:
    """The tools of an agent that binds *bound*, on *surface* (`workspace` or `chat`), under its suspension policy.

    *bound* has entries `toolset`, `toolset__tool`, `-toolset`, `-toolset__tool`; what it names and does not exist is
    in `unknown`. A tool that `requires` something is there only if *suspension* holds exactly true for it.
    """
    registry = _registry()
    granted = frozenset(name for name in registry.requirements if suspension.get(name) is True)
    return _toolbox(registry, tuple(bound), surface, granted)


def check_binding(bound: Sequence[str]) -> None:
    """Raise Invalid, naming every entry of *bound* that names nothing here, with the name that was probably meant.

    An exception (minus) that names nothing is refused as well: it would leave in what somebody meant to take out.
    """
    if len(bound) > MAX_BOUND:
        raise Invalid(f"tools: at most {MAX_BOUND} entries are taken, not {len(bound)}.")
    registry = _registry()
    wrong = [entry for entry in bound if entry.removeprefix("-") not in registry.entries]
    if not wrong:
        return
    words = []
    for entry in wrong[:5]:
        minus, name = ("-", entry[1:]) if entry.startswith("-") else ("", entry)
        near = nearest(name, registry.entries)
        words.append(f"{shown(entry)} is not known" + (f" (did you mean {minus}{near}?)" if near else ""))
    rest = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    names = listed((toolset.name for toolset in registry.toolsets), 500)
    raise Invalid(f"tools: {'; '.join(words)}{rest}. The toolsets are: {names}.")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of *names* that *name* was probably meant to be: other case or dashes first, then near spelling."""
    wanted, known = _folded(name[:MAX_NAME]), {_folded(one): one for one in names}
    found = get_close_matches(wanted, known, n=1, cutoff=0.75)
    if found:
        return known[found[0]]
    # A model often leaves the toolset out, or puts one underscore between.
    ends = [one for folded, one in known.items() if folded.endswith(f"__{wanted}")]
    return ends[0] if len(ends) == 1 else None


# -- loading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Registry:
    toolsets: tuple[Toolset, ...]
    tools: Mapping[str, Tool]
    # What a binding may name: a toolset or a tool -> the full names it stands for.
    entries: Mapping[str, frozenset[str]]
    requirements: frozenset[str]


@lru_cache(maxsize=256)
def _toolbox(registry: _Registry, bound: tuple[str, ...], surface: str, granted: frozenset[str]) -> Toolbox:
    named: set[str] = set()
    excepted: set[str] = set()
    for entry in bound:
        target = excepted if entry.startswith("-") else named
        target |= registry.entries.get(entry.removeprefix("-"), frozenset())
    tools = {
        name: tool
        for name, tool in registry.tools.items()
        if name in named - excepted and surface in tool.surfaces and (tool.requires is None or tool.requires in granted)
    }
    unknown = tuple(entry for entry in bound if not entry.startswith("-") and entry not in registry.entries)
    specs = tuple(ToolSpec(name, tool.description, tool.parameters) for name, tool in tools.items())
    return Toolbox(tools, unknown, specs)


def _registry() -> _Registry:
    paths = [(name, (given,) if isinstance(given, str) else tuple(given)) for name, given in settings.TOOLSETS.items()]
    return _load(tuple(paths))


@lru_cache(maxsize=8)
def _load(paths: tuple[tuple[str, tuple[str, ...]], ...]) -> _Registry:
    return _registry_of([_joined(name, [_imported(path) for path in given]) for name, given in paths])


def _imported(path: str) -> Toolset:
    try:
        found = import_string(path)
    except ImportError as error:
        raise ImproperlyConfigured(f"TOOLSETS: {path} can't be imported: {error}") from error
    if not isinstance(found, Toolset):
        raise ImproperlyConfigured(f"TOOLSETS: {path} is not a Toolset.")
    return found


def _joined(name: str, parts: Sequence[Toolset]) -> Toolset:
    for part in parts:
        if part.name != name:
            raise ImproperlyConfigured(f"TOOLSETS: a toolset listed as {name!r} calls itself {part.name!r}.")
    description = next((part.description for part in parts if part.description), "")
    return Toolset(name, description, tuple(tool for part in parts for tool in part.tools))


def _registry_of(toolsets: Sequence[Toolset]) -> _Registry:
    tools: dict[str, Tool] = {}
    entries: dict[str, frozenset[str]] = {}
    for toolset in toolsets:
        for tool in toolset.tools:
            _check_tool(toolset, tool)
            if tool.full_name in tools:
                raise ImproperlyConfigured(f"Two tools are called {tool.full_name}.")
            tools[tool.full_name] = tool
            entries[tool.full_name] = frozenset({tool.full_name})
        _check_part(toolset.name)
        entries[toolset.name] = frozenset(tool.full_name for tool in toolset.tools)
    check_alike([*(toolset.name for toolset in toolsets), *tools])
    requirements = frozenset(tool.requires for tool in tools.values() if tool.requires)
    return _Registry(tuple(toolsets), tools, entries, requirements)


def _check_tool(toolset: Toolset, tool: Tool) -> None:
    if tool.toolset != toolset.name:
        raise ImproperlyConfigured(f"The tool {tool.full_name} is listed in the toolset {toolset.name!r}.")
    _check_part(tool.toolset)
    _check_part(tool.name)
    if len(tool.full_name) > MAX_NAME:
        raise ImproperlyConfigured(f"The tool name {tool.full_name} is longer than {MAX_NAME} characters.")
    if not tool.description.strip():
        raise ImproperlyConfigured(f"The tool {tool.full_name} has no description.")
    try:
        schemas.prepared(tool.parameters)
    except schemas.UnusableError as error:
        raise ImproperlyConfigured(f"The tool {tool.full_name}: {error}") from None


def _check_part(part: str) -> None:
    if not _PART.fullmatch(part) or "__" in part:
        raise ImproperlyConfigured(
            f"{part!r} can't be part of a tool's name: letters, digits, - and _ are taken, two _ in a row are not."
        )


def check_alike(names: Iterable[str]) -> None:
    """Raise ImproperlyConfigured if two of *names* are one to the eye: by case, `_` and `-`, or `I l 1` and `0 O`."""
    for alike in (_folded, lambda name: name.translate(_ALIKE)):
        seen: dict[str, str] = {}
        for name in names:
            if (other := seen.setdefault(alike(name), name)) != name:
                raise ImproperlyConfigured(f"The names {other} and {name} look alike: one of them must change.")


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
