"""Where one side of a call leaks into the other's channel."""

from __future__ import annotations

import numpy as np

from voicetui.share.crosstalk import leaked


def test_a_side_shorter_than_a_hop_has_no_leak() -> None:
    nothing, loud = np.zeros(0, np.float32), np.full(400, -20.0, np.float32)
    assert leaked(nothing, loud).shape == (0,)
    assert not leaked(loud, nothing).any()
