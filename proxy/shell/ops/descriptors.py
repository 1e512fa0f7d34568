"""How many files and connections this process may have open: asked for at the start, and looked after since."""

import errno
import os
from contextlib import suppress

WANTED = 32_768
"""Far more than are of use, and few enough that what idle connections take stays below 100 MB."""

OWN = 64
"""For what is neither a client's connection nor a backend's."""


def raised() -> int:
    """The limit, after as much was asked for as may be had. A shell or systemd begins with 1,024, out of respect for
    programs that this one is not: what they fear is `select`."""
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
    """So many of their connections that each may have one to a backend."""
    return max(2, (limit - OWN) // 2)


def exhausted() -> bool:
    """Is there none left? Libuv then takes connections and drops them, and tells nobody."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
