"""How much memory this process may have, as far as the system says."""

import os
from pathlib import Path

CONTAINERS_LIMIT = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""One file for each version of Linux's control groups. Without a limit it holds a word, or more than any machine
has."""


def memory_bytes() -> int | None:
    """Returns the memory of the machine, or of the container if that may have less; None where it is unknown."""
    sizes = [_of_machine(), *map(_number_in, CONTAINERS_LIMIT)]
    return min((number for number in sizes if number is not None), default=None)


def _of_machine() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows, and systems that do not know the names
        return None


def _number_in(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
