"""What every test shares."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Tests marked ``anyio`` run on asyncio, the only loop the program uses."""
    return "asyncio"
