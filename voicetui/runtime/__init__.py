"""Carrying out what the rules decide."""
