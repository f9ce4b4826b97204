"""The admin site's pages of people and tenancy.

Invariants: no road around the operations. What has rules beyond a field's (the last admin, a token's text, the audit)
is looked at here and changed in the console; people and workspaces are made by superusers; nothing is deleted.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.forms import ModelForm
from django.http import HttpRequest

from workspaces import audit
from workspaces.access import is_superuser
from workspaces.doors import actor_of
from workspaces.models import ApiToken, AuditEntry, Membership, Notification, User, Workspace
from workspaces.operations import create_workspace
from workspaces.tenancy import ReadOnlyTenantAdmin, Rows, TenantAdmin, administered

if TYPE_CHECKING:  # generic for the type checker only
    _UserAdmin = UserAdmin[User]
else:
    _UserAdmin = UserAdmin

admin.site.unregister(Group)  # rights are roles in workspaces; a group would promise what nothing asks


def _superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_staff and is_superuser(actor_of(request))


@admin.register(User)
class PersonAdmin(_UserAdmin):
    """Logins are global, so only superusers see them. A person who leaves is made inactive; records keep the name."""

    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    filter_horizontal = ()
    actions = None
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("When", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: "ModelForm[Any]", change: bool) -> None:
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            audit.record(
                actor_of(request),
                "user.changed" if change else "user.created",
                None,
                obj.username,
                id=str(obj.pk),
                fields=sorted(form.changed_data),
                superuser=obj.is_superuser,
                active=obj.is_active,
            )

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        # The page that sets a password saves by itself and only logs: the audit is written beside that.
        if isinstance(obj, User) and "password" in str(message).lower():
            with transaction.atomic():
                audit.record(actor_of(request), "user.password_set", None, obj.username, id=str(obj.pk))
        return super().log_change(request, obj, message)


@admin.register(Workspace)
class WorkspaceAdmin(TenantAdmin):
    """Superusers make workspaces; their admins may rename them. The slug is a folder's name and stays."""

    list_display = ("slug", "name", "created_at")
    search_fields = ("slug", "name")
    fields = ("slug", "name", "created_at")

    def get_queryset(self, request: HttpRequest) -> Rows:
        return administered(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("slug", "created_at") if obj else ("created_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _superuser(request)

    def save_model(self, request: HttpRequest, obj: Any, form: "ModelForm[Any]", change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        made = create_workspace(actor_of(request), obj.slug, obj.name)
        # The page goes on with the row that the operation made.
        obj.pk, obj.created_at, obj.created_by = made.pk, made.created_at, made.created_by
        obj._state.adding = False

    def workspace_of(self, obj: Any) -> Workspace | None:
        return obj if isinstance(obj, Workspace) else None


@admin.register(Membership)
class MembershipAdmin(ReadOnlyTenantAdmin):
    list_display = ("workspace", "user", "role", "created_at")
    list_filter = ("role",)
    search_fields = ("workspace__slug", "user__username")
    list_select_related = ("workspace", "user")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyTenantAdmin):
    list_display = ("name", "workspace", "role", "prefix", "created_at", "last_used_at", "revoked_at")
    list_filter = ("role",)
    search_fields = ("name", "workspace__slug")
    list_select_related = ("workspace",)
    exclude = ("sha256",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyTenantAdmin):
    list_display = ("at", "workspace", "actor_name", "actor_by", "action", "target")
    list_filter = ("action",)
    search_fields = ("workspace__slug", "actor_name", "action", "target")
    list_select_related = ("workspace",)
    ordering = ("-id",)


@admin.register(Notification)
class NotificationAdmin(ReadOnlyTenantAdmin):
    list_display = ("created_at", "workspace", "level", "message")
    list_filter = ("level",)
    search_fields = ("workspace__slug", "message")
    list_select_related = ("workspace",)
    ordering = ("-id",)
