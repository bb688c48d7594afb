"""What a test needs and this machine lacks."""

from __future__ import annotations

import importlib.util
import os
from typing import NoReturn

import pytest


def absent(why: str) -> NoReturn:
    """Skip, or fail where ``CI`` is true: a real part that is missing there would go untested unseen."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


def need_package(name: str) -> None:
    """The package is there, or ``absent``."""
    if importlib.util.find_spec(name) is None:
        absent(f"the package {name} is not installed")
