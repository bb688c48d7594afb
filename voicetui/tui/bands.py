"""The bands of gaps, whose inks are the themes'."""

from voicetui.views.bands import BANDS, Band, band

__all__ = ["BANDS", "Band", "band"]
