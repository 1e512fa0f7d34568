"""The room that a file of SQLite takes, and how it becomes smaller."""

from typing import Final

from proxy.shell.stores.sql.step import Result, Step

SHRUNK_PAGES: Final = 1000
"""Pages by which the file may shrink after a sweep. Moving them holds others up for some milliseconds."""


def then_shrink(step: Step[Result]) -> Step[Result]:
    """Gives back to the system what the step left empty."""
    result = yield from step
    free = yield "pragma freelist_count", ()
    for _ in range(min(free[0][0], SHRUNK_PAGES)):
        yield "pragma incremental_vacuum(1)", ()  # sqlite3 steps once, which is one page whatever the number
    return result


def used_bytes() -> Step[int]:
    pages = yield "pragma page_count", ()
    free = yield "pragma freelist_count", ()
    size = yield "pragma page_size", ()
    return int((pages[0][0] - free[0][0]) * size[0][0])
