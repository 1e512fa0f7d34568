"""A script that the server runs in one step. It is sent once, and then named by its digest.

What it reads and writes is declared, and all of it has one tag, so it lies on one shard of a cluster. It takes the time
from the server, which is the same for all processes. Keys that nobody changes any more vanish by themselves; by when
something is over the script decides, and the server only takes it away a little later.
"""

from dataclasses import dataclass
from hashlib import sha1
from typing import Final

SERVER_TIME: Final = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
"""

LATER: Final = 60
"""Seconds for which the server keeps what is over."""


@dataclass(slots=True, frozen=True)
class Clocks:
    """How scripts learn the time: lines that set `now`."""

    date: str = SERVER_TIME
    """When things expire."""
    steady: str = SERVER_TIME
    """How fast meters fill, and who lives."""


SERVER_CLOCKS: Final = Clocks()


class Script:
    __slots__ = ("digest", "text")

    def __init__(self, *parts: str) -> None:
        self.text = "".join(parts)
        self.digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


@dataclass(slots=True, frozen=True)
class ScriptCall:
    script: Script
    keys: tuple[str, ...]
    arguments: tuple[str | bytes | int | float, ...] = ()
