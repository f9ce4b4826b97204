"""The form of a model provider. The key goes in and never comes out."""

from collections.abc import Sequence
from typing import Any

from django import forms

from sessions.llm.address import DEFAULTS
from workspaces.models import SLUG_WORDS

KINDS = {
    "openai": "OpenAI-compatible",
    "anthropic": "Anthropic",
    "scripted": "Scripted: plays an agent's script, no network",
}


class ProviderForm(forms.Form):
    """`new` has a slug and a kind to choose; afterwards only the address and the key change."""

    slug = forms.CharField(max_length=64, help_text=f"Stands before the colon of a model's name; fixed. {SLUG_WORDS}.")
    kind = forms.ChoiceField()
    base_url = forms.CharField(
        required=False,
        max_length=500,
        label="Address",
        help_text="Empty: the vendor's own. May be on this machine or in your network.",
        widget=forms.URLInput(attrs={"placeholder": DEFAULTS["openai"], "spellcheck": "false"}),
    )
    api_key = forms.CharField(
        required=False,
        max_length=4096,
        label="API key",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
    )
    clear_key = forms.BooleanField(required=False, label="Remove the stored key")

    def __init__(
        self, data: Any = None, *, kinds: Sequence[str], new: bool, has_key: bool = False, **initial: Any
    ) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        choices = [(kind, KINDS.get(kind, kind)) for kind in kinds]
        self.fields["kind"] = forms.ChoiceField(choices=choices, disabled=not new)
        if not new:
            del self.fields["slug"]
        if not has_key:
            del self.fields["clear_key"]

    @property
    def key(self) -> str | None:
        """The key to store: a new one, "" to remove it, None to keep it."""
        if self.cleaned_data["api_key"].strip():
            return str(self.cleaned_data["api_key"])
        return "" if self.cleaned_data.get("clear_key") else None
