"""Retry-After in every form servers send it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.retry_after import retry_after_s

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT, the moment RFC 9110 uses in its examples


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        (" 2 ", 2.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("99999", 99_999.0),
        ("2, 5", 5.0),
        ("Sun, 06 Nov 1994 08:49:42 GMT", 5.0),
        ("Sunday, 06-Nov-94 08:49:42 GMT", 5.0),
        ("Sun Nov  6 08:49:42 1994", 5.0),
        ("Sun, 06 Nov 1994 09:49:42 +0100", 5.0),
        ("Sun, 06 Nov 1994 08:49:42 -0000", 5.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
    ],
)
def test_seconds_and_dates_give_the_wait(value: str, seconds: float) -> None:
    assert retry_after_s({"Retry-After": value}, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value", ["", " ", "abc", "-1", "1e3", "nan", "inf", "2s", "٢", "²", "0x10", "1" * 400, "Sun, 99"]
)
def test_anything_else_leaves_the_callers_own_back_off(value: str) -> None:
    assert retry_after_s({"Retry-After": value}, NOW) is None
    assert retry_after_s({"retry-after-ms": value}, NOW) is None


def test_no_header_leaves_the_callers_own_back_off() -> None:
    assert retry_after_s({}, NOW) is None


def test_milliseconds_go_first_and_fall_back_when_unreadable() -> None:
    assert retry_after_s({"retry-after-ms": "250"}, NOW) == 0.25
    assert retry_after_s({"Retry-After": "9", "Retry-After-Ms": "250"}, NOW) == 0.25
    assert retry_after_s({"Retry-After": "9", "retry-after-ms": "soon"}, NOW) == 9.0


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_header_value_raises(value: str) -> None:
    wait = retry_after_s({"retry-after": value, "retry-after-ms": value}, NOW)
    assert wait is None or wait >= 0
