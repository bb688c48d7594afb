"""What the screen's tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

GOLDEN = Path(__file__).parent / "golden"


class CompareGolden(Protocol):
    """Compares text with the file of that name."""

    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest tests/tui --write-golden`` writes the golden screens anew; look at what changed before committing it."""
    parser.addoption("--write-golden", action="store_true", help="write the golden screens instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> CompareGolden:
    """Compare with a golden file, or write it when asked to."""
    write = request.config.getoption("--write-golden", default=False)

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if write:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no {path.name}: run pytest tests/tui --write-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
