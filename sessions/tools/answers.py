"""What a person's answer to a question must look like.

Lives here: the check of an answer, of the schema a model asks it to fit, and the one shape of an answer to
`ask_question`. Used by the operations that take answers, by the form, and by the tools that ask.
May not: look at who answers, or change an answer behind the person's back.
Invariants: a refused answer is a `SchemaViolation` with words for the person, before any transaction; options are
suggestions, so no text is ever checked against them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sessions.tools import schemas
from sessions.tools.wording import listed, shown
from workspaces.errors import Invalid, SchemaViolation
from workspaces.values import canonical, require_clean

MAX_ANSWER = 256 * 1024
MAX_SCHEMA = 32 * 1024
MAX_SCHEMA_NODES = 500


def check_schema(schema: Any) -> None:
    """Raise Invalid, in words for whoever wrote it, unless *schema* is a JSON Schema answers can be checked against.

    Draft 2020-12, at most 32 KiB and 500 parts, without references to elsewhere; `schemas` names what is left out.
    """
    if not isinstance(schema, Mapping):
        raise Invalid(f"A response schema is an object, not {shown(schema)}.")
    try:
        schemas.prepared(schema, max_bytes=MAX_SCHEMA, max_nodes=MAX_SCHEMA_NODES)
    except schemas.UnusableError as error:
        raise Invalid(str(error)) from None


def check_answer(schema: Mapping[str, Any] | None, response: Any) -> None:
    """Raise SchemaViolation unless *response* fits *schema*; without one it must be text that isn't blank.

    At most 256 KiB as JSON, 200 levels. The error's `errors` lists up to ten `{path, message}` for a form.
    Raises Invalid for what can't be stored (NUL, half a surrogate pair, NaN).
    """
    require_clean(response, "response")
    size = len(canonical(response).encode())
    if size > MAX_ANSWER:
        raise SchemaViolation(f"The answer is too long: {size} bytes, at most {MAX_ANSWER} are taken.")
    if schema is None:
        _check_text(response)
        return
    try:
        found, more = schemas.problems(canonical(schema), response, limit=10)
    except (schemas.UnusableError, schemas.UncheckedError) as error:
        raise SchemaViolation(f"The answer can't be checked against the schema of this question: {error}") from None
    if found:
        words = "; ".join(f"{where or 'the answer'}: {text}" for where, text in found[:3])
        rest = "; and more" if more or len(found) > 3 else ""
        raise SchemaViolation(
            f"The answer does not fit: {words}{rest}.",
            errors=[{"path": where, "message": text} for where, text in found],
        )


def _check_text(response: Any) -> None:
    if not isinstance(response, str):
        raise SchemaViolation(f"The answer must be text, not {shown(response)}.")
    if not response.strip():
        raise SchemaViolation("The answer is empty.")


def question_key(question: Mapping[str, Any]) -> str:
    """The name under which the answer to *question* is given: its header, or its text if it has none."""
    return str(question.get("header") or question["question"])


def normalise_question_answer(questions: Sequence[Mapping[str, Any]], response: Any) -> dict[str, Any]:
    """*response* as `{"answer": text}` or `{"answers": {header or question: text or texts}}`, as the model reads it.

    A plain text counts as `{"answer": text}`. In `answers` every key is the header or the question of one of
    *questions*, each of them at most once; a list of texts is taken for a question with `multi_select` only. Free
    text is never checked against the options. Questions may be left out; not all of them. Raises SchemaViolation.
    """
    require_clean(response, "response")
    if len(canonical(response).encode()) > MAX_ANSWER:
        raise SchemaViolation(f"The answer is too long: at most {MAX_ANSWER} bytes are taken.")
    if isinstance(response, str):
        response = {"answer": response}
    if not isinstance(response, dict) or set(response) not in ({"answer"}, {"answers"}):
        raise SchemaViolation('The answer must be text, {"answer": text} or {"answers": {question: text}}.')
    if "answer" in response:
        _check_text(response["answer"])
        return {"answer": response["answer"]}
    return {"answers": _answers(questions, response["answers"])}


def _answers(questions: Sequence[Mapping[str, Any]], given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not given:
        raise SchemaViolation('"answers" must be an object with a text for at least one question.')
    found: dict[str, Any] = {}
    answered: set[int] = set()
    for key, text in given.items():
        number = _question(questions, key)
        if number in answered:
            raise SchemaViolation(f"The question {shown(key)} is answered twice, by its header and by its text.")
        answered.add(number)
        found[key] = _one_answer(key, text, bool(questions[number].get("multi_select")))
    return found


def _question(questions: Sequence[Mapping[str, Any]], key: str) -> int:
    # The header first: it is what the form and the model call the question by.
    for field in ("header", "question"):
        for number, question in enumerate(questions):
            if question.get(field) == key:
                return number
    names = listed(shown(question_key(question), 60) for question in questions)
    raise SchemaViolation(f"There is no question {shown(key)}. The questions are: {names}.")


def _one_answer(key: str, text: Any, several: bool) -> Any:
    texts = text if isinstance(text, list) and several else [text]
    if not texts:
        raise SchemaViolation(f"The answer to {shown(key)} is empty.")
    for one in texts:
        if not isinstance(one, str):
            wanted = "text or a list of texts" if several else "text"
            raise SchemaViolation(f"The answer to {shown(key)} must be {wanted}, not {shown(one)}.")
        if not one.strip():
            raise SchemaViolation(f"The answer to {shown(key)} is empty.")
    return text
