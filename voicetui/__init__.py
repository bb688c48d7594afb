"""voicetui: a terminal bench for live voice conversation."""

__version__ = "0.1.0"
