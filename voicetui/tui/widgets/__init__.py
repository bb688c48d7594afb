"""The parts of the screen. Each draws rows from one picture of the session."""
