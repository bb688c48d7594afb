"""What the screen costs, measured by hand: ``python -m tests.tui.cost [PART...]``."""
