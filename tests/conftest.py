"""What every test shares."""

from __future__ import annotations

import pytest

from tests.absent import need_package


@pytest.fixture
def anyio_backend() -> str:
    """Tests marked ``anyio`` run on asyncio, the only loop the program uses."""
    return "asyncio"


@pytest.fixture(scope="session")
def canceller_package() -> None:
    """The echo canceller's package is there."""
    need_package("pywebrtc_audio")
