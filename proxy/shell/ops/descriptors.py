"""How many files and connections this process may have open: raised at the start, and checked from then on."""

import errno
import os
from contextlib import suppress

WANTED = 32_768
"""Far more than the proxy can use, and few enough that idle connections take less than 100 MB."""

OWN = 64
"""Descriptors for everything but connections to clients and backends."""


def raised() -> int:
    """Raises the limit as far as the system allows, and returns it. A shell or systemd begins with 1,024, for programs
    that use `select`; this one does not."""
    try:
        import resource
    except ImportError:  # Windows has none
        return WANTED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(ValueError, OSError):  # macOS has another limit behind this one
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def room_for_clients(limit: int) -> int:
    """Returns how many clients may connect, so that each may have a connection to a backend."""
    return max(2, (limit - OWN) // 2)


def exhausted() -> bool:
    """Is no descriptor left? Libuv then accepts connections and drops them silently."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
