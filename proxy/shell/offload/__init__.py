"""Work that must not hold the event loop.

- `threads` does large work in a few threads, under a deadline.
- `processes` makes checks that only the end of a process can stop; `check_process` is such a process.
- `fair_slots` gives the few slots for work to owners in turn.
"""
