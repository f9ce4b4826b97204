"""All routes: the rooms' own, the API, sign-in, the admin site, health. A public route is on the list of
tests/architecture, everything else needs a login or a token."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from config import health
from config.api import api

# The admin's own form knows no limits and no second factor; allauth's does.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.site_header = admin.site.site_title = "Layby"

handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/", api.urls),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("", include("workspaces.urls")),
    path("", include("sessions.urls")),
]
