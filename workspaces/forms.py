"""The console's forms about people, tokens and files: they collect and label; what is valid, the operations say.

Invariant: no rule lives only here, because the API has no forms. `attempt` puts an operation's refusal beside the form.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms

from workspaces.errors import Conflict, Invalid, LaybyError, NotFound, TooLarge
from workspaces.models import SLUG_WORDS
from workspaces.roles import ROLE_CHOICES, Role

T = TypeVar("T")


def attempt(form: forms.Form, act: Callable[[], T]) -> T | None:
    """What *act* returns if the form is valid and the operation agrees; else None, and the form says why."""
    if not form.is_valid():
        return None
    try:
        return act()
    except (Invalid, Conflict, NotFound, TooLarge) as error:
        refuse(form, error)
        return None


def refuse(form: forms.Form, error: LaybyError) -> None:
    """Show *error* above the fields of *form*."""
    form.add_error(None, error.message)


class WorkspaceForm(forms.Form):
    name = forms.CharField(max_length=120)
    slug = forms.CharField(
        max_length=64, help_text=f"Stands in addresses and is the folder's name; it can't be changed. {SLUG_WORDS}."
    )


class AddMemberForm(forms.Form):
    username = forms.CharField(max_length=150, help_text="Somebody who has a login already.")
    role = forms.ChoiceField(choices=ROLE_CHOICES, initial=Role.OPERATOR)


class NewPersonForm(forms.Form):
    username = forms.CharField(max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    password = forms.CharField(
        strip=False,
        label="First password",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Give it to the person, who should change it after signing in.",
    )
    role = forms.ChoiceField(choices=ROLE_CHOICES, initial=Role.OPERATOR)


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLE_CHOICES)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="What it is for; records show this name.")
    role = forms.ChoiceField(choices=ROLE_CHOICES, initial=Role.OPERATOR)
    creates_workspaces = forms.BooleanField(
        required=False, label="May also make new workspaces", help_text="Only with the role admin."
    )

    def __init__(self, *args: Any, superuser: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not superuser:
            del self.fields["creates_workspaces"]


class _ManyFilesInput(forms.FileInput):
    allow_multiple_selected = True


class _ManyFilesField(forms.FileField):
    """The files that were chosen, as a list; names and sizes are judged where they are written."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        found = [one for one in data or [] if one]
        if not found:
            raise forms.ValidationError("Choose a file first.")
        return found


class UploadForm(forms.Form):
    chosen = _ManyFilesField(
        label="Files", widget=_ManyFilesInput(attrs={"multiple": True}), help_text="Up to 25 MiB together."
    )
    replace = forms.BooleanField(required=False, label="Replace files that have the same name")


class TextForm(forms.Form):
    """A text file in a field. `expected` is the fingerprint of what was read; "" for a file that is to be new."""

    content = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "code", "rows": 24, "spellcheck": "false"}),
    )
    expected = forms.CharField(required=False, widget=forms.HiddenInput)


class NewFileForm(TextForm):
    name = forms.CharField(max_length=1000, strip=False, help_text="May have folders in it, like notes/plan.md.")
    field_order = ("name", "content", "expected")
