"""Tests of the composition: services, launcher, settings, errors, health."""
