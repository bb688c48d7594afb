"""Conversations without a person."""
