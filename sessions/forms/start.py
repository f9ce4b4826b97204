"""The form that gives an agent a task."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django import forms


class StartForm(forms.Form):
    """`key` is of this one showing of the form: sent twice it starts one session."""

    agent = forms.ChoiceField()
    input = forms.CharField(
        label="Task",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "placeholder": "What should be done, and what should be asked first?"}),
    )
    title = forms.CharField(
        required=False, max_length=200, help_text="What lists call it. Empty: the first line of the task."
    )
    key = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput, initial=lambda: uuid4().hex)

    def __init__(self, *args: Any, agents: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(slug, f"{name} ({slug})" if name != slug else slug) for slug, name in agents]
        # With several nothing is chosen beforehand: the wrong agent must not be started by a hasty click.
        self.fields["agent"] = forms.ChoiceField(choices=choices if len(choices) == 1 else [("", "Choose…"), *choices])
        self.order_fields(["agent", "input", "title", "key"])
        self.label_suffix = ""
