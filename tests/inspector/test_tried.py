"""The page of the docs, tried word by word: its commands, before the demo model, and what they lead to."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy import app, demo
from proxy.core.inspected import findings
from proxy.settings.loading import load
from proxy.shell.ops.logs import make_log
from tests.inspector.pages import browser
from tests.support.browser import Browser
from tests.support.processes import ROOT
from tests.support.proxies import LogLines

__all__ = ["browser"]

DOCS = ROOT / ".github" / "docs" / "inspector.md"
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHORT_LONG = 0.3
"""Seconds that are long enough here."""

FOUND = {
    "demo-leak": "became a call",
    "demo-guess": "names no tool of the request",
    "demo-cut": "stream broke off before its end",
    "demo": "schema of a tool is wrong",
    "demo-slow": "took long until it began to answer",
}


async def run(script: str, folder: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        "bash", "-euc", script, cwd=folder, stdout=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0


@pytest.fixture
async def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """As its first commands start it, on another port, and with a slow model that is less slow."""
    monkeypatch.setattr(findings, "LONG_HEAD", SHORT_LONG)
    monkeypatch.chdir(tmp_path)
    setting, _, start = SHELL.findall(DOCS.read_text(encoding="utf-8"))[0].rstrip().rpartition("\n")
    assert start == "scripts/run --config proxy.toml"
    await run(setting, tmp_path)
    server = await demo.start(pace_s=0, slow_s=2 * SHORT_LONG)
    options = {"--port": "0", "--backend": server.url, "--profile": demo.PROFILE, "--store": "off"}
    settings = load(options, {}, "proxy.toml").settings
    async with app.running(settings, make_log("info", "json", stream=LogLines().stream)) as running:
        yield running
    await server.stop()


async def test_each_fault_is_found_with_the_page_alone(browser: Browser, url: str, tmp_path: Path) -> None:
    commands = SHELL.findall(DOCS.read_text(encoding="utf-8"))[1]
    await run(commands.replace("http://127.0.0.1:8080", url), tmp_path)
    page = await browser.page()
    await page.open(f"{url}/inspector")
    await page.until(f"document.querySelectorAll('.requests tbody tr').length === {len(FOUND)}")
    rows = await page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.requests tbody tr')].map((row) =>"
        " [row.querySelector('a').innerText, row.dataset.id]))"
    )
    assert rows.keys() == FOUND.keys()
    for model, words in FOUND.items():
        await page.evaluate(f"location.hash = '#/requests/{rows[model]}'")
        await page.until(f"document.querySelector('.right h2')?.innerText.startsWith('{model}')")
        assert re.search(words, await page.text(".findings li")), model
    await page.evaluate(f"location.hash = '#/requests/{rows['demo-cut']}/events'")
    broken = await page.text("[aria-label='From the backend'] .cutoff")
    assert broken == "Here the stream broke off, before its end."
    await page.evaluate(f"location.hash = '#/requests/{rows['demo-guess']}/events'")
    await page.until("document.querySelector('.right h2').innerText.startsWith('demo-guess')")
    assert await page.evaluate("document.querySelector('.cutoff')") is None
