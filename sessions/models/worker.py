"""Worker processes and their heartbeat."""

from django.db import models


class Worker(models.Model):
    """One process that drives sessions. It is alive while `alive_until` lies ahead of the database's clock."""

    boot_id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=255)
    host_boot = models.CharField(max_length=64, default="")
    pid = models.IntegerField()
    pid_started = models.CharField(max_length=32, default="")
    slots = models.IntegerField(default=0)
    busy = models.IntegerField(default=0)
    held = models.IntegerField(default=0)
    lost_threads = models.IntegerField(default=0)
    started_at = models.DateTimeField()
    alive_until = models.DateTimeField()
    stopping = models.BooleanField(default=False)
