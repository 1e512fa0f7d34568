"""Can a file be made where the proxy will write? For commands that ask before it starts."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

A_BLOCK: Final = bytes(4096)


def unwritable_now(directory: Path) -> str:
    """Why not, in words; empty if it can. Rights alone do not tell it: root has them all, a disk is full, a file system
    holds things of the system's own. The file that is made for it has no name, or loses it at once."""
    nearest = directory
    while not nearest.exists():
        nearest = nearest.parent
    try:
        with TemporaryFile(dir=nearest) as file:
            file.write(A_BLOCK)
    except OSError as error:
        return f"nothing can be written in {nearest}: {error.strerror or type(error).__name__}"
    return ""
