"""Strict JSON bodies for routes: `body: Sent[Model]`.

Lives here: reading, parsing and checking a body, and the words of a refusal. Ninja's own parser takes NaN, 1e400 and
duplicate keys, reads without a bound and answers 400 without a reason. Invariants: at most MAX_BODY bytes are read;
no value of a body is ever repeated in an error (it may be a key).
"""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.http.request import UnreadablePostError
from ninja.params.models import Body, BodyModel
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workspaces.errors import Invalid, TooLarge
from workspaces.values import parse_json, require_clean

T = TypeVar("T")
MAX_ERRORS = 10

_WORDS = {
    "missing": "this field is needed.",
    "string_type": "a text is expected.",
    "int_type": "a whole number is expected.",
    "bool_type": "true or false is expected.",
    "list_type": "a list is expected.",
    "dict_type": "an object is expected.",
    "model_type": "an object is expected.",
    "model_attributes_type": "an object is expected.",
}


class StrictModel(BaseModel):
    """The base of every body: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Decision(StrictModel):
    """The base of bodies that decide or change something."""

    by: str | None = Field(
        None, max_length=256, description="Who decided, in your own words; kept and shown beside the token's name."
    )


class StrictBodyModel(BodyModel):
    """Reads the body by our own rules. An empty one counts as `{}`."""

    @classmethod
    def resolve(cls, request: HttpRequest, api: Any, path_params: Any) -> "StrictBodyModel":
        """The one parameter with the parsed body. Raises Invalid, TooLarge."""
        name = cls.__read_from_single_attr__
        try:
            return cls.model_validate({name: read_json(request)})
        except ValidationError as error:
            raise refusal(error, cls.model_fields[name].annotation) from None


class StrictBody(Body):  # type: ignore[misc]  # ninja's Body is untyped
    """The source of a `Sent` parameter."""

    _model = StrictBodyModel

    @classmethod
    def _param_source(cls) -> str:
        return "body"


class _Sent:
    def __getitem__(self, model: Any) -> Any:
        return Annotated[model, StrictBody(...)]


if TYPE_CHECKING:
    Sent = Annotated[T, None]
else:
    Sent = _Sent()


def read_json(request: HttpRequest) -> Any:
    """The body as JSON; `{}` for an empty one. Raises Invalid, TooLarge."""
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    try:
        # Not `request.body`: a body without a declared length would be read whole.
        raw = request.read(limit + 1)
    except UnreadablePostError:
        raise Invalid("The body could not be read to its end.") from None
    if len(raw) > limit:
        raise TooLarge(f"The body is longer than {limit} bytes.")
    if not raw.strip():
        return {}
    value = parse_json(raw)
    require_clean(value, "body")
    return value


def refusal(error: ValidationError, model: Any) -> Invalid:
    """*error* in words: the first field that is wrong as the message, up to ten of them in `errors`."""
    found = []
    for one in error.errors(include_url=False, include_context=True, include_input=False)[:MAX_ERRORS]:
        field = ".".join(str(part) for part in one["loc"][1:])[:200]
        found.append({"field": field, "message": _words(one, model)})
    first = found[0]
    return Invalid(f"{first['field'] or 'body'}: {first['message']}", errors=found)


def _words(one: Any, model: Any) -> str:
    kind, context = one["type"], one.get("ctx", {})
    if kind == "extra_forbidden":
        names = [field.alias or name for name, field in model.model_fields.items()] if len(one["loc"]) == 2 else []
        return "there is no such field" + (f" (there are: {', '.join(names)})." if names else ".")
    if kind == "string_too_long":
        return f"at most {context['max_length']} characters."
    if kind == "literal_error":
        return f"one of {context['expected']} is expected."
    return _WORDS.get(kind) or f"{one['msg']}."
