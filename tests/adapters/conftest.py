"""Where the models are, for the tests that need them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.absent import absent
from voicetui.models import ModelError, path_of


def _model(name: str) -> Path:
    try:
        return path_of(name)
    except ModelError as error:
        absent(str(error))


@pytest.fixture(scope="session")
def whisper_folder() -> Path:
    """The folder of faster-whisper tiny.en. Skips where it is not installed, but fails where ``CI`` is true."""
    return _model("whisper-tiny.en")


@pytest.fixture(scope="session")
def whisper_base_folder() -> Path:
    """The folder of faster-whisper base, for many languages; otherwise as ``whisper_folder``."""
    return _model("whisper-base")


@pytest.fixture(scope="session")
def piper_path() -> Path:
    """The Piper voice en_US-joe-medium; otherwise as ``whisper_folder``."""
    return _model("piper-en_US-joe-medium")


@pytest.fixture(scope="session")
def gguf_path() -> Path:
    """SmolLM2-135M-Instruct; otherwise as ``whisper_folder``."""
    return _model("smollm2-135m-instruct")


@pytest.fixture(scope="session")
def smart_turn_path() -> Path:
    """Smart Turn v3.2; otherwise as ``whisper_folder``."""
    return _model("smart-turn-v3.2")
