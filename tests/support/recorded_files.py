"""Files that the recorder writes, as tests find them."""

import asyncio
import threading
from pathlib import Path
from time import monotonic
from typing import Any

from proxy.core.recorded.difference import differences
from proxy.core.recorded.lines import read
from proxy.core.recorded.recording import Recording
from proxy.core.recorded.replay import replay
from proxy.shell.recorder.retention import ENDING
from tests.support.sockets import PROMPTLY


async def kept(directory: Path, number: int = 1) -> list[Path]:
    """The files, when there are so many. A thread writes them, and tells nobody."""
    return await asyncio.to_thread(_kept, directory, number)


def _kept(directory: Path, number: int) -> list[Path]:
    nobody = threading.Event()
    until = monotonic() + PROMPTLY
    while len(found := sorted(directory.glob(f"*{ENDING}"))) < number:
        assert monotonic() < until
        nobody.wait(0.001)
    return found


async def one(directory: Path) -> Recording:
    (path,) = await kept(directory)
    recording = read(path.read_bytes())
    found = differences(recording, replay(recording))
    assert found == [], "\n".join(found[:60])
    return recording


def recorder(directory: Path, keep: str = "all", **more: Any) -> dict[str, Any]:
    return {"recorder": {"keep": keep, "directory": str(directory), **more}}
