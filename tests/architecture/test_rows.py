"""Who may touch rows: doors only through access, the session's state only in the store, locks only of the safe kind."""

import ast
import re
from pathlib import Path

from tests.architecture.code import ROOT, at, doors, modules, texts, tree

# A door that may look by itself, with the reason.
OWN_LOOK = {
    "workspaces/tenancy.py": "it is the admin site's access: every row that an admin page shows comes through it",
    "workspaces/management/commands/issue_token.py": "run on the machine itself, by somebody who owns the database",
}
MANAGERS = {"objects", "_default_manager", "_base_manager"}
STORE = ROOT / "sessions" / "engine" / "store"
TABLE = r"agent_sessions_session\b"
WRITES_STATE = re.compile(
    rf"\bUPDATE\s+{TABLE}[^;]*?\bSET\b(?:(?!\bWHERE\b)[^;])*?\bstate\s*=|\bINSERT\s+INTO\s+{TABLE}", re.I | re.S
)


def in_store(path: Path) -> bool:
    return path.is_relative_to(STORE) or path == STORE.with_suffix(".py")


def test_a_door_gets_its_rows_from_access_and_queries_only() -> None:
    found = [
        at(path, node.lineno)
        for path in doors()
        if str(path.relative_to(ROOT)) not in OWN_LOOK
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS
    ]
    assert not found


def _state_writes(path: Path) -> list[str]:
    found = [at(path, line) for line, text in texts(path) if WRITES_STATE.search(text)]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            # A class's own field (a form's, a value's) is a Name, not an Attribute.
            found += [at(path, t.lineno) for t in targets if isinstance(t, ast.Attribute) and t.attr == "state"]
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            creates = name in ("update", "update_or_create", "bulk_update") or (
                name in ("create", "get_or_create", "Session") and _of_session(node.func)
            )
            if creates and any(keyword.arg == "state" for keyword in node.keywords):
                found.append(at(path, node.lineno))
    return found


def _of_session(function: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "Session" for part in ast.walk(function))


# Fills a throw-away database with a crowd of parked rows that nothing ever drives.
CROWD = ROOT / "config" / "bench" / "measure.py"


def test_only_the_store_writes_a_sessions_state() -> None:
    assert not [p for path in modules() if not in_store(path) and path != CROWD for p in _state_writes(path)]


def test_that_check_sees_each_way_of_writing(tmp_path: Path) -> None:
    ways = [
        "session.state = 'parked'",
        "Session.objects.filter(id=1).update(state='parked')",
        "Session.objects.create(state='parked')",
        "Session(state='parked')",
        "SQL = '''UPDATE agent_sessions_session SET fence = 1, state = 'parked' WHERE id = %s'''",
        "SQL = f'INSERT INTO agent_sessions_session (id) VALUES ({x})'",
    ]
    fine = ["SQL = 'UPDATE agent_sessions_session SET fence = 1 WHERE state = 1'", "form.update(x=1)", "x = s.state"]
    for number, line in enumerate([*ways, *fine]):
        path = ROOT / f"planted_{number}.py"
        tree_of = tmp_path / path.name
        tree_of.write_text(line)
        assert bool(_found(tree_of)) == (line in ways), line


def _found(path: Path) -> list[str]:
    import tests.architecture.test_rows as here

    shown, here.at = here.at, lambda where, line: f"{where}:{line}"
    try:
        return _state_writes(path)
    finally:
        here.at = shown


def test_rows_are_locked_without_blocking_foreign_keys() -> None:
    found = []
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "select_for_update":
                given = {keyword.arg: keyword.value for keyword in node.keywords}
                no_key = given.get("no_key")
                if not (isinstance(no_key, ast.Constant) and no_key.value is True):
                    found.append(at(path, node.lineno))
        for line, text in texts(path):
            if re.search(r"\bFOR\s+UPDATE\b", text, re.I):
                found.append(at(path, line))
    assert not found, "deadlocks with foreign-key inserts: say no_key=True, FOR NO KEY UPDATE"


def test_no_hint_is_sent_for_later() -> None:
    found = [
        at(path, node.lineno)
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and {"eta", "countdown"} & {keyword.arg for keyword in node.keywords}
    ]
    assert not found, "the broker redelivers after its visibility time-out: what is due later is a row"
