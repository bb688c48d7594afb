"""The pure rules of a conversation."""
