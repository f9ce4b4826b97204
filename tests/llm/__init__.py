"""Asking models, through the real library, against the strict servers of tests/strict."""
