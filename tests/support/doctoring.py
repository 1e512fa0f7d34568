"""Runs `doctor` as a process of its own."""

import asyncio
import os
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PROMPTLY = 60.0


class Ended(NamedTuple):
    code: int
    out: str
    err: str


async def doctor(*options: str, **variables: str) -> Ended:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proxy", "doctor", *options),
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PROXY_")} | variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PROMPTLY):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())
