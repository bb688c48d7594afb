"""``python -m voicetui``."""

from voicetui.cli import main

main()
