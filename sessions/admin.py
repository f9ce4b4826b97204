"""The admin site's pages of the runtime: providers and agents are edited here too, sessions are looked at.

Invariants: no road around the operations: a saved definition is checked by them and makes a version, a key goes in
encrypted and never comes out, a session's state is nobody's to edit; staff see what their own workspaces have.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest

from sessions.llm.address import check_base_url
from sessions.models import Agent, AgentVersion, Provider, Session
from sessions.operations.agents import check, check_slug, create_agent, definition_of, update_agent
from sessions.operations.providers import create_provider, update_provider
from sessions.present.display import indented, one_line, visible
from workspaces.doors import actor_of
from workspaces.errors import Invalid
from workspaces.models import Workspace
from workspaces.tenancy import ReadOnlyTenantAdmin, TenantAdmin
from workspaces.values import parse_json

if TYPE_CHECKING:  # generic for the type checker only
    _AgentModelForm = forms.ModelForm[Agent]
    _ProviderModelForm = forms.ModelForm[Provider]
else:
    _AgentModelForm = _ProviderModelForm = forms.ModelForm


class AgentAdminForm(_AgentModelForm):
    """An agent with its definition as JSON, checked as the operation will."""

    definition = forms.CharField(
        strip=False,
        widget=forms.Textarea(attrs={"rows": 30, "cols": 100, "spellcheck": "false"}),
        help_text="model, system_prompt, tools, suspension, limits, script. A change makes a new version.",
    )

    class Meta:
        model = Agent
        fields = ("workspace", "slug", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.current is not None:
            self.initial["definition"] = indented(self.instance.current.definition)

    def clean_slug(self) -> str:
        return _slug(self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        workspace = data.get("workspace") or (self.instance.workspace_id and self.instance.workspace)
        if isinstance(workspace, Workspace) and data.get("definition"):
            try:
                raw = parse_json(data["definition"])
                if not isinstance(raw, dict):
                    raise Invalid("An object is expected.")
                check(workspace, raw)
                data["parsed"] = raw
            except Invalid as error:
                self.add_error("definition", error.message)
        return data


@admin.register(Agent)
class AgentAdmin(TenantAdmin):
    """Saving a changed definition makes a version; sessions keep the one they started with."""

    form: Any = AgentAdminForm
    list_display = ("slug", "name", "workspace", "version")
    search_fields = ("slug", "name", "workspace__slug")
    list_select_related = ("workspace", "current")
    fields = ("workspace", "slug", "name", "definition")

    @admin.display(description="version")
    def version(self, obj: Agent) -> str:
        return f"{obj.current.number} · {obj.current.digest[:6]}" if obj.current else ""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("workspace", "slug") if obj else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor, definition = actor_of(request), form.cleaned_data["parsed"]
        if change:
            update_agent(actor, obj, form.cleaned_data["name"], definition)
            return
        made = create_agent(actor, obj.workspace, obj.slug, obj.name, definition)
        _is_now(obj, made)


@admin.register(AgentVersion)
class AgentVersionAdmin(ReadOnlyTenantAdmin):
    """What an agent was and is; the database refuses any change."""

    workspace_field = "agent__workspace"
    list_display = ("agent", "number", "digest", "created_at", "created_by")
    search_fields = ("agent__slug", "digest")
    list_select_related = ("agent",)
    fields = ("agent", "number", "digest", "created_at", "created_by", "means")
    readonly_fields = ("means",)
    ordering = ("-created_at",)

    @admin.display(description="definition")
    def means(self, obj: AgentVersion) -> str:
        return visible(indented(definition_of(obj).canonical()))


class ProviderAdminForm(_ProviderModelForm):
    """A provider; its key is written and never shown."""

    kind = forms.ChoiceField()
    key = forms.CharField(
        required=False,
        max_length=4096,
        label="API key",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Empty: as it is. A stored key is never shown.",
    )
    remove_key = forms.BooleanField(required=False, label="Remove the stored key")

    class Meta:
        model = Provider
        fields = ("workspace", "slug", "kind", "base_url")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" in self.fields:
            self.fields["kind"] = forms.ChoiceField(choices=[(kind, kind) for kind in settings.MODEL_PROVIDERS])

    def clean_slug(self) -> str:
        return _slug(self.cleaned_data["slug"])

    def clean_base_url(self) -> str:
        try:
            return check_base_url(self.cleaned_data["base_url"])
        except Invalid as error:
            raise forms.ValidationError(error.message) from None


@admin.register(Provider)
class ProviderAdmin(TenantAdmin):
    """Where models are called."""

    form: Any = ProviderAdminForm
    list_display = ("slug", "kind", "base_url", "workspace", "has_key")
    search_fields = ("slug", "workspace__slug")
    list_select_related = ("workspace",)
    fields = ("workspace", "slug", "kind", "base_url", "key", "remove_key")

    @admin.display(description="key", boolean=True)
    def has_key(self, obj: Provider) -> bool:
        return bool(obj.api_key)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("workspace", "slug", "kind") if obj else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor, data = actor_of(request), form.cleaned_data
        key = data["key"] if data["key"].strip() else "" if data["remove_key"] else None
        if change:
            update_provider(actor, obj, data["base_url"], key)
            return
        made = create_provider(actor, obj.workspace, obj.slug, obj.kind, data["base_url"], key or "")
        _is_now(obj, made)


@admin.register(Session)
class SessionAdmin(ReadOnlyTenantAdmin):
    """Sessions as rows. What can be done with one is done on its page in the console."""

    list_display = ("id", "title", "workspace", "agent", "state", "created_at", "ended_at")
    list_filter = ("state",)
    search_fields = ("text__title", "workspace__slug", "version__agent__slug")
    list_select_related = ("workspace", "version__agent", "text")
    ordering = ("-id",)
    fields = (
        "id", "title", "workspace", "agent", "version", "surface", "state", "attention", "failure_code", "priority",
        "attempts", "seq", "model_calls", "running_ms", "depth", "started_by", "created_at", "ended_at",
    )  # fmt: skip
    readonly_fields = ("title", "agent")
    show_full_result_count = False

    @admin.display(description="title")
    def title(self, obj: Session) -> str:
        return one_line(obj.text.title, 120)

    @admin.display(description="agent")
    def agent(self, obj: Session) -> str:
        return obj.version.agent.slug


def _slug(slug: str) -> str:
    try:
        check_slug(slug)
    except Invalid as error:
        raise forms.ValidationError(error.message.removeprefix("slug: ")) from None
    return slug


def _is_now(obj: Any, made: Any) -> None:
    """The page goes on with the row that the operation made."""
    for field in made._meta.concrete_fields:
        setattr(obj, field.attname, getattr(made, field.attname))
    obj._state.adding = False
