"""Checks of the code itself: contracts, sizes, registries, the list of public routes."""
