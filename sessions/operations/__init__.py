"""What people and callers do to agents and sessions: the actor first, one transaction, typed errors."""
