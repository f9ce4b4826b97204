"""Model providers, agents and their immutable versions. A version is named by the hash of its canonical JSON."""

import pgtrigger
from django.db import models

from workspaces.ids import new_id
from workspaces.models import Workspace


class Provider(models.Model):
    """Where models are called. `api_key` is encrypted at rest and write-only: no page, log or answer shows it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="providers")
    slug = models.CharField(max_length=64)
    kind = models.CharField(max_length=16)
    base_url = models.CharField(max_length=500, blank=True, default="")
    api_key = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="provider_slug")]
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class Agent(models.Model):
    """A named definition. What runs is always one of its versions."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="agents")
    slug = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    current = models.ForeignKey("AgentVersion", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="agent_slug")]
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class AgentVersion(models.Model):
    """One immutable definition of an agent: never updated, never deleted (the database says no)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    definition = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="agent_version_number")]
        triggers = [pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.agent_id} v{self.number}"
