"""voicetui: a terminal bench for live voice conversation."""

import os

__version__ = "0.1.0"

# Before numpy is loaded, which reads it once.  OpenBLAS would spread the small matrices of a spectrogram over every
# core and spin there: beside a busy core that took a transcript from 120 to 210 ms, and a score from 70 to 140.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
