"""What strangers can do to the page: by what a model says, by names and headers, and from pages of their own."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from proxy.core.tenants import digest
from tests.inspector.pages import browser, page, proxy
from tests.support.browser import Browser, Page
from tests.support.proxies import Proxy, StartProxy, backend, start_proxy
from tests.support.sockets import ScriptedBackend, delta, reply, text

__all__ = ["backend", "browser", "page", "proxy", "start_proxy"]

HOSTILE = (
    "<img src=x onerror=\"window.stung = 1\"><script>window.stung = 1</script></script><svg onload='window.stung = 1'>"
    "\"'><iframe srcdoc='<script>parent.stung = 1</script>'></iframe>{{7*7}}${window.stung=1}"
    "<a href='javascript:window.stung=1'>here</a><style>*{display:none}</style>\u202e\u0000"
)
"""As text, a name, or whatever else a stranger may write."""

PARTS = ("overview", "requests", "events", "text")
GREW = "document.querySelectorAll('img, script:not([src]), iframe, style, object, embed, svg[onload]').length"


async def test_nothing_that_is_said_becomes_a_part_of_the_page(
    page: Page, proxy: Proxy, backend: ScriptedBackend
) -> None:
    """S14."""
    call = {"index": 0, "id": HOSTILE, "function": {"name": HOSTILE, "arguments": HOSTILE}}
    backend.answers(reply(text(HOSTILE), delta(reasoning_content=HOSTILE), delta(tool_calls=[call])))
    tool = {
        "type": "function",
        "name": "f",
        "description": HOSTILE,
        "parameters": {"type": "object", "title": HOSTILE},
    }
    headers = {
        "User-Agent": "<script>window.stung=1</script>",
        "<b>x</b>".replace("<", "").replace(">", ""): "<i>",
    }
    body = {"model": HOSTILE, "input": HOSTILE, "instructions": HOSTILE, "stream": True, "tools": [tool]}
    body |= {HOSTILE: HOSTILE, "user": HOSTILE, "metadata": {"<b>": HOSTILE}}
    for model in ("m", HOSTILE):
        async with proxy.post(
            body | {"model": model}, **{k: v for k, v in headers.items() if "/" not in k}
        ) as response:
            await response.read()
    async with proxy.session.get(f"{proxy.url}/<script>window.stung=1</script>") as response:
        assert response.status == 404
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    ids = await page.evaluate(
        "[...document.querySelectorAll('.requests tbody tr')].map((row) => row.dataset.id)"
    )
    for id in ids:
        for part in PARTS:
            await page.evaluate(f"location.hash = '#/requests/{id}/{part}'")
            await page.until(f"document.querySelector('.right').dataset.drawn === '{id}/{part}'")
            await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            assert await page.evaluate(GREW) == 0
    for view in ("conversations", "backends", "tenants"):
        await page.evaluate(f"location.hash = '#/{view}'")
        assert await page.evaluate(GREW) == 0
    assert await page.evaluate("window.stung ?? null") is None


async def test_the_browser_itself_refuses_to_make_html_of_text(page: Page) -> None:
    """S14, should a mistake be made one day."""
    for mistake in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.createElement('script').text = '1'",
    ):
        thrown = await page.evaluate(
            f"(() => {{ try {{ {mistake}; return ''; }} catch (error) {{ return error.name; }} }})()"
        )
        assert thrown == "TypeError"
    await page.evaluate("fetch('http://localhost:1/').catch(() => 0)")
    assert any("Content Security Policy" in complaint for complaint in page.complaints)
    page.complaints.clear()
    page.requested[:] = [url for url in page.requested if "localhost:1" not in url]


@pytest.fixture
async def elsewhere() -> AsyncIterator[str]:
    """A page of another origin."""

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response(text="<!doctype html><title>x</title><body>", content_type="text/html")

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/"
    await runner.cleanup()


READS = """
Promise.all(%s.map((url) => fetch(url, %s).then((answer) => answer.text()).catch((error) => error.name)))
"""


async def test_a_page_of_another_origin_reads_nothing(browser: Browser, proxy: Proxy, elsewhere: str) -> None:
    """S31."""
    await proxy.stream()
    stranger = await browser.page()
    await stranger.open(elsewhere)
    urls = [
        f"{proxy.url}/inspector/data/{name}"
        for name in ("requests", "standing", "request?id=0", "content?id=0")
    ]
    urls += [f"{proxy.url}/inspector", f"{proxy.url}/inspector/app.js"]
    assert await stranger.evaluate(READS % (urls, "{}")) == ["TypeError"] * len(urls)
    opaque = await stranger.evaluate(READS % (urls, "{mode: 'no-cors'}"))
    assert set(opaque) <= {"", "TypeError"}
    assert await stranger.evaluate(READS % (urls, "{headers: {Authorization: 'Bearer x'}}")) == [
        "TypeError"
    ] * len(urls)


async def test_a_page_of_another_origin_cannot_frame_it(
    browser: Browser, proxy: Proxy, elsewhere: str
) -> None:
    stranger = await browser.page()
    await stranger.open(elsewhere)
    await stranger.evaluate(
        "new Promise((done) => { const frame = document.createElement('iframe');"
        f"frame.onload = done; frame.src = '{proxy.url}/inspector'; document.body.append(frame); }})"
    )
    await stranger.until("frames.length === 1")
    assert any("frame" in complaint for complaint in stranger.complaints)


async def test_a_key_opens_the_door_and_stays_in_the_tab(browser: Browser, start_proxy: StartProxy) -> None:
    """S06, S30."""
    proxy = await start_proxy(inspector={"keys": [digest("the-inspectors-key")]})
    await proxy.stream(model="a-model")
    visitor = await browser.page()
    await visitor.open(f"{proxy.url}/inspector")
    await visitor.until("document.activeElement.id === 'key'")
    assert await visitor.evaluate("document.querySelector('.door .remark')") is None
    await visitor.type("wrong")
    await visitor.press("Enter")
    await visitor.until("document.querySelector('.door .remark')?.innerText === 'This key is none of them.'")
    await visitor.type("the-inspectors-key")
    await visitor.press("Enter")
    await visitor.until("document.querySelectorAll('.requests tbody tr').length > 0")
    assert "a-model" in await visitor.text(".requests tbody")
    assert "the-inspectors-key" not in " ".join(visitor.requested)
    assert "the-inspectors-key" not in str(await visitor.evaluate("({...localStorage})"))
    assert "the-inspectors-key" not in proxy.log.text


async def test_nobody_is_let_in_where_there_are_tenants_alone(
    browser: Browser, start_proxy: StartProxy
) -> None:
    """S30."""
    proxy = await start_proxy(tenants={"ann": {"keys": [digest("key-of-ann-12345")]}})
    visitor = await browser.page()
    await visitor.open(f"{proxy.url}/inspector")
    assert "inspector.keys" in await visitor.text(".door")
    assert await visitor.evaluate("document.querySelector('#key') === null")
