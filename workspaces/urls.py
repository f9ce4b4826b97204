"""The console's addresses of this room. Each view wears `console_view` or `person_view`: none is public."""

from django.urls import path

from workspaces.views import files, members, places, tokens

app_name = "workspaces"

urlpatterns = [
    path("", places.root, name="root"),
    path("workspaces/", places.listing, name="list"),
    path("w/<slug:slug>/", places.home, name="home"),
    path("w/<slug:slug>/members/", members.listing, name="members"),
    path("w/<slug:slug>/add-member/", members.add, name="member_add"),
    path("w/<slug:slug>/new-member/", members.create, name="member_new"),
    path("w/<slug:slug>/members/<str:username>/", members.one, name="member"),
    path("w/<slug:slug>/members/<str:username>/role/", members.change, name="member_role"),
    path("w/<slug:slug>/members/<str:username>/remove/", members.remove, name="member_remove"),
    path("w/<slug:slug>/tokens/", tokens.listing, name="tokens"),
    path("w/<slug:slug>/tokens/<str:token_id>/", tokens.one, name="token"),
    path("w/<slug:slug>/tokens/<str:token_id>/revoke/", tokens.revoke, name="token_revoke"),
    path("w/<slug:slug>/files/", files.browse, name="files"),
    path("w/<slug:slug>/files/<path:path>", files.browse, name="file"),
    path("w/<slug:slug>/download/<path:path>", files.download, name="file_download"),
    path("w/<slug:slug>/edit/<path:path>", files.edit, name="file_edit"),
    path("w/<slug:slug>/delete/<path:path>", files.delete, name="file_delete"),
    path("w/<slug:slug>/new-file/", files.new, name="file_new_here"),
    path("w/<slug:slug>/new-file/<path:path>", files.new, name="file_new"),
    path("w/<slug:slug>/upload/", files.upload, name="file_upload_here"),
    path("w/<slug:slug>/upload/<path:path>", files.upload, name="file_upload"),
]
