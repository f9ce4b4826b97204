"""How allauth is used: people are made by an admin, nobody signs up by himself."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closes sign-up; everything else is allauth's own."""

    def is_open_for_signup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> bool:
        """Never: accounts are made in the admin site or by members' admins."""
        return False
