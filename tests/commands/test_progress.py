"""What long work says of itself, on a real terminal and elsewhere."""

import asyncio
import io
import os
import pty
import sys

import pytest

from proxy.commands import progress
from proxy.commands.progress import CLEARED, Progress, telling
from tests.support.terminals import on_a_terminal


def test_elsewhere_than_on_a_terminal_nothing_is_said() -> None:
    stream = io.StringIO()
    told = Progress(stream)
    told.say("half")
    told.end()
    assert (told.is_seen, stream.getvalue()) == (False, "")


def test_one_line_changes_and_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        told = Progress(stream)
        told.say("half")
        told.say("longer than the terminal is wide")
        told.end()
        written = ""
        while written.count(CLEARED) < 3:  # a terminal hands on what it has so far
            written += os.read(ours, 1000).decode()
    os.close(ours)
    assert written == f"{CLEARED}half{CLEARED}longer th{CLEARED}"


async def test_work_is_told_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, asked = Terminal(), asyncio.Event()
    monkeypatch.setattr(sys, "stderr", terminal)

    def so_far() -> str:
        asked.set()
        return "3 of 4"

    async with telling(so_far, every=0):
        await asyncio.wait_for(asked.wait(), 5)
        await asyncio.sleep(0)
    assert "3 of 4 … 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith(progress.CLEARED)


async def test_commands_of_the_store_end_with_what_they_print(tmp_path: object) -> None:
    """Nothing of the line is left before it."""
    store = f"sqlite:{tmp_path}"
    async with on_a_terminal("-m", "proxy", "serve", "--port", "0", "--store", store) as shown:
        await shown.until("Listening")
        async with on_a_terminal("-m", "proxy", "store", "sweep", "--store", store) as swept:
            written = await swept.until("before")
    assert written.removeprefix(CLEARED).startswith("Deleted: 0 that had expired")
