"""Can a file be made where the proxy will write? For commands that ask before it starts."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

A_BLOCK: Final = bytes(4096)


def try_to_write(directory: Path) -> None:
    """Raises OSError if nothing can be written there. Rights alone do not tell: root has them all, a disk may be full,
    and some file systems take no files. The file made for it has no name, or loses it at once."""
    nearest = directory
    while not nearest.exists():
        nearest = nearest.parent
    with TemporaryFile(dir=nearest) as file:
        file.write(A_BLOCK)
