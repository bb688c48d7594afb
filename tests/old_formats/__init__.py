"""Journals that earlier programs wrote, frozen, and the summary each has.

``format-1-first`` is a demo of the first days, before notes, prices and prewarming; ``format-1-demo`` one of a later
day; ``format-1-records`` holds one record of every type there was then, made up. None is ever written again. Where the
*meaning* of a figure was changed on purpose, ``python -m tests.old_formats`` writes the summaries anew: look at the
difference before committing it.
"""
