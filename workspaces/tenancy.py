"""What the admin site lets a person see: superusers everything, staff what the workspaces they administer have.

Lives here: the base classes of every model's admin that belongs to a workspace, in this room and those above. Django's
own permissions (groups) are not asked: rights are roles, as everywhere. Invariants: a staff member never gets a row of
a workspace they are not an admin of, not in a list, not by an address, not in a choice; nothing is deleted in bulk;
whatever is saved leaves an audit entry in the same transaction.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db import models, transaction
from django.forms import ModelChoiceField, ModelForm
from django.http import HttpRequest

from workspaces import audit
from workspaces.doors import actor_of
from workspaces.models import Membership, User, Workspace
from workspaces.roles import Role

if TYPE_CHECKING:  # generic for the type checker only
    _ModelAdmin = admin.ModelAdmin[models.Model]
else:
    _ModelAdmin = admin.ModelAdmin

Rows = models.QuerySet[Any]


def administered(request: HttpRequest) -> models.QuerySet[Workspace]:
    """The workspaces whose rows the person of *request* may see in the admin site."""
    if not isinstance(request.user, User) or not request.user.is_staff:
        return Workspace.objects.none()
    if request.user.is_superuser:
        return Workspace.objects.all()
    mine = Membership.objects.filter(user=request.user, role=Role.ADMIN)
    return Workspace.objects.filter(pk__in=mine.values("workspace"))


class TenantAdmin(_ModelAdmin):
    """The admin of a model that belongs to a workspace; `workspace_field` is the look-up that leads to it."""

    workspace_field: ClassVar[str] = "workspace"
    actions = None

    def get_queryset(self, request: HttpRequest) -> Rows:
        rows = super().get_queryset(request)
        if isinstance(request.user, User) and request.user.is_superuser:
            return rows  # also those of no workspace at all
        return rows.filter(**{f"{self.workspace_field}__in": administered(request)})

    def has_module_permission(self, request: HttpRequest) -> bool:
        return administered(request).exists()

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return administered(request).exists()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def _may(self, request: HttpRequest, obj: Any) -> bool:
        if obj is None:
            return administered(request).exists()
        return self.get_queryset(request).filter(pk=obj.pk).exists()

    def formfield_for_foreignkey(
        self, db_field: "models.ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> "ModelChoiceField[Any] | None":
        if db_field.related_model is Workspace:
            kwargs["queryset"] = administered(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: "ModelForm[Any]", change: bool) -> None:
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            done = "changed" if change else "added"
            audit.record(
                actor_of(request),
                f"admin.{self.opts.model_name}.{done}",
                self.workspace_of(obj),
                str(obj),
                id=str(obj.pk),
                fields=sorted(form.changed_data),  # the names only: a value may be a secret
            )

    def workspace_of(self, obj: Any) -> Workspace | None:
        """The workspace *obj* belongs to, for the audit."""
        value: Any = obj
        for name in self.workspace_field.split("__"):
            value = getattr(value, name)
        return value if isinstance(value, Workspace) else None


class ReadOnlyTenantAdmin(TenantAdmin):
    """As TenantAdmin, to look at only."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
