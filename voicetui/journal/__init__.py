"""The append-only log of a session."""
