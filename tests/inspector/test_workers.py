"""The page over several workers, as processes: it shows the requests of all, and what becomes of them."""

import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.inspector.pages import browser
from tests.support.browser import Browser, Page
from tests.support.processes import free_port
from tests.support.programs import Process, served
from tests.support.proxies import backend
from tests.support.sockets import ScriptedBackend

__all__ = ["backend", "browser"]

STANDING = "document.getElementById('standing').innerText"
ROWS = "[...document.querySelectorAll('.requests tbody tr')].map((row) => row.dataset.id)"
MANY = 40
"""The kernel deals connections to the workers by chance: of so many each worker gets one."""


@pytest.fixture
async def process(backend: ScriptedBackend, tmp_path: Path) -> AsyncIterator[Process]:
    server = {"workers": 2, "stuck_seconds": 60, "grace_seconds": 1}
    logs = {"format": "json"}
    async with served(backend, tmp_path, server=server, logs=logs, store={"url": "off"}) as started:
        yield started


@pytest.fixture
async def page(browser: Browser, process: Process) -> Page:
    opened = await browser.page()
    await opened.open(f"{process.url}/inspector")
    await opened.until(f"{STANDING}.includes('2 of 2 workers')")
    return opened


def pids(process: Process) -> dict[str, int]:
    """Of the present workers, by their numbers."""
    told = process.written.decode()
    lines = [line for line in told.splitlines() if '"worker_started"' in line]
    found = [(re.search(r'"worker": ?(\d+)', line), re.search(r'"pid": ?(\d+)', line)) for line in lines]
    return {number[1]: int(pid[1]) for number, pid in found if number and pid}


async def ask_all(process: Process, page: Page) -> set[str]:
    """Asks by new connections until each worker has a request on the page; gives their ids."""
    for _ in range(MANY):
        async with aiohttp.ClientSession() as session:
            answer = await session.post(f"{process.url}/v1/responses", json={"model": "m", "input": "Hi"})
            assert answer.status == 200, await answer.text()
            await answer.read()
    await page.until(f"{ROWS}.length >= {MANY}")
    shown = set(await page.evaluate(ROWS))
    assert {id.partition("-")[0] for id in shown} == {"0", "1"}
    return shown


async def test_one_is_killed_and_begins_anew(process: Process, page: Page) -> None:
    shown = await ask_all(process, page)
    os.kill(pids(process)["1"], signal.SIGKILL)
    lost = sum(id.startswith("1-") for id in shown)
    await page.until(f"{STANDING}.includes('worker 1 began anew')")
    standing = await page.evaluate(STANDING)
    assert f"without the {lost} request{'s' if lost > 1 else ''} it had" in standing
    assert "2 of 2 workers" in standing
    assert "does not answer" not in standing
    left = set(await page.evaluate(ROWS))
    assert left == {id for id in shown if id.startswith("0-")}
    later = await ask_all(process, page)
    assert {id for id in later if id.startswith("1-")}.isdisjoint(shown)


async def test_a_proxy_that_was_started_again_says_so(
    backend: ScriptedBackend, browser: Browser, tmp_path: Path
) -> None:
    port, page = free_port(), await browser.page()
    async with served(backend, tmp_path, port=port, store={"url": "off"}) as first:
        await page.open(f"{first.url}/inspector")
        async with aiohttp.ClientSession() as session:
            for _ in range(3):
                async with session.post(
                    f"{first.url}/v1/responses", json={"model": "m", "input": "Hi"}
                ) as answer:
                    assert answer.status == 200
        await page.until(f"{ROWS}.length === 3")
    async with served(backend, tmp_path, port=port, store={"url": "off"}):
        await page.until(f"{STANDING}.includes('the proxy began anew')")
        assert "without the 3 requests it had" in await page.evaluate(STANDING)
        assert await page.evaluate(ROWS) == []
