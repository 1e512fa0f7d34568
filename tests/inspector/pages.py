"""A proxy whose inspector shows what was said, and a browser that looks at it."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.browser import Browser, Page, browsing
from tests.support.inspecting import recorded
from tests.support.processes import ROOT
from tests.support.proxies import Proxy, StartProxy

PICTURES = ROOT / ".github" / "docs" / "pictures"
MOST_BYTES = 150_000
"""Of a picture in the docs."""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as started:
        yield started


@pytest.fixture
async def proxy(tmp_path: Path, start_proxy: StartProxy) -> Proxy:
    return await start_proxy(**recorded(tmp_path))


@pytest.fixture
async def page(browser: Browser, proxy: Proxy) -> AsyncIterator[Page]:
    """It must have nothing to complain of, and ask nobody but the proxy."""
    opened = await browser.page()
    await opened.open(f"{proxy.url}/inspector")
    yield opened
    assert opened.complaints == []
    assert {url for url in opened.requested if not url.startswith(f"{proxy.url}/inspector")} == set()


async def open_newest(page: Page, part: str = "overview") -> None:
    """The newest request, once it has ended."""
    await page.until("document.querySelectorAll('.requests tbody tr').length > 0")
    id = await page.evaluate("document.querySelector('.requests tbody tr').dataset.id")
    await page.evaluate(f"location.hash = '#/requests/{id}/{part}'")
    await page.until("document.querySelector('.right .part')?.childElementCount > 0")


async def picture(page: Page, name: str) -> None:
    """For the docs, when `scripts/pictures` asks for it; and it can always be taken."""
    taken = await page.picture()
    assert taken.startswith(b"\x89PNG")
    if "PICTURES" in os.environ:
        assert len(taken) < MOST_BYTES
        _write(PICTURES / f"{name}.png", taken)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
