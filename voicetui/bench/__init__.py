"""Measuring: settings on the same recordings, interleaved, with intervals."""
