"""voicetui: a terminal bench for live voice conversation."""

import os

__version__ = "0.1.0"

# Before numpy is loaded, which reads it once.  OpenBLAS would spread the small matrices of a spectrogram over every
# core and spin there: beside a busy core that took a transcript from 120 to 210 ms, and a score from 70 to 140.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Before llama.cpp is loaded. Its threads meet hundreds of times a token. One that spins there for long keeps the other
# from the core it needs (ten tokens beside an open sound stream took up to 3 s); one that sleeps at once is late each
# time (a token took two threads 18 ms, and 14 when they spin for a moment).
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
