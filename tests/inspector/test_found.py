"""What a newcomer finds with the inspector alone: a leaked call, a cut stream, a wrong schema, a slow backend.

The page of the docs walks through the first of them, with the pictures that are taken here.
"""

import asyncio

import pytest

from proxy.core.inspected import findings
from tests.inspector.pages import browser, open_newest, page, picture, proxy
from tests.support.browser import Page
from tests.support.proxies import Proxy, backend, start_proxy
from tests.support.sockets import HEAD, Line, ScriptedBackend, delta, reply, text

__all__ = ["backend", "browser", "page", "proxy", "start_proxy"]

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL = '<tool_call>{"name": "%s", "arguments": {"city": "Paris"}}</tool_call>'


async def finding(page: Page) -> str:
    return await page.text(".findings li")


async def ask(proxy: Proxy, **body: object) -> None:
    question = "What is the weather in Paris?"
    async with proxy.post({"model": "qwen3-8b", "input": question, "stream": True} | body) as response:
        await response.read()


async def test_a_leaked_call(page: Page, proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(
        reply(text("Let me look. "), text(CALL % "get_weather")),
        reply(text("It is "), text("sunny in Paris.")),
        reply(text("Let me look. "), text(CALL % "weather")),
    )
    for _ in range(3):
        await ask(proxy, tools=[WEATHER], instructions="Be brief.")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    assert "1 mended" in await page.text(".requests tbody tr:last-child")
    assert "1 left in the text" in await page.text(".requests tbody tr:first-child")
    await picture(page, "inspector-requests")

    await open_newest(page)
    assert "names no tool of the request" in await finding(page)
    assert "Its notation is hermes" in await finding(page)
    assert "is the tool declared" in await finding(page)
    await picture(page, "inspector-leaked-call")
    await open_newest(page, "text")
    assert '{"name": "weather"' in await page.text("[aria-label='As the client got it'] pre")
    await picture(page, "inspector-leaked-text")
    await open_newest(page, "requests")
    assert "get_weather" in await page.text("#lines-backend")
    await picture(page, "inspector-both-requests")

    await page.press("Escape")
    await page.evaluate(
        "location.hash = '#/requests/' + document.querySelector('tbody tr:last-child').dataset.id + '/text'"
    )
    mended = await page.text(".calls code")
    assert mended == "get_weather"
    assert "get_weather" in await page.text("mark")


async def test_a_call_that_was_cut(page: Page, proxy: Proxy, backend: ScriptedBackend) -> None:
    async def cut(line: Line) -> None:
        await line.request()
        function = {"name": "get_weather", "arguments": '{"city": "Par'}
        line.send(HEAD, delta(tool_calls=[{"index": 0, "id": "call_1", "function": function}]))

    backend.plays(cut)
    await ask(proxy, tools=[WEATHER])
    await open_newest(page, "text")
    assert await page.text(".remark") == "The model wrote no text."
    for side in ("As the model wrote it", "As the client got it"):
        assert '{"city": "Par' in await page.text(f"[aria-label='{side}'] .calls")


async def test_a_cut_stream(page: Page, proxy: Proxy, backend: ScriptedBackend) -> None:
    async def cut(line: Line) -> None:
        await line.request()
        whole = reply(text("It is "), text("sunny"))
        line.send(whole[: whole.index(b"sunny")])

    backend.plays(cut)
    await ask(proxy)
    await open_newest(page)
    assert "stream broke off before its end" in await finding(page)
    await open_newest(page, "events")
    assert "Here the stream broke off" in await page.text("[aria-label='From the backend']")


async def test_a_wrong_schema(page: Page, proxy: Proxy) -> None:
    wrong = WEATHER | {"parameters": {"type": "object", "properties": {"city": {"type": "text"}}}}
    await ask(proxy, tools=[wrong])
    await open_newest(page)
    assert "schema of a tool is wrong" in await finding(page)
    assert "tools[0].parameters" in await finding(page)
    await open_newest(page, "requests")
    assert '"text"' in await page.text("#lines-client")
    assert await page.text('[aria-label="The backend\'s request"] p') == "No backend was asked."
    assert await page.evaluate("document.querySelectorAll('.line.alone, .legend').length") == 0
    await open_newest(page, "events")
    assert await page.text("[aria-label='From the backend'] p") == "No backend was asked."
    assert await page.text("[aria-label='To the client'] p") == "An error, with HTTP 400."


async def test_a_slow_backend(
    page: Page, proxy: Proxy, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "LONG_HEAD", 0.3)
    go_on = asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        await go_on.wait()
        line.send(reply(text("At last.")))

    backend.plays(slow)
    async with asyncio.TaskGroup() as group:
        group.create_task(ask(proxy))
        await open_newest(page)
        await page.until("document.querySelector('.requests .dot.live') !== null")
        await page.until("document.querySelector('.requests td:nth-child(7)').innerText.endsWith(' s')")
        go_on.set()
    await page.until("document.querySelector('.findings') !== null")
    assert await page.text(".requests .tag") == "slow"
    assert "The backend took long until it began to answer" in await finding(page)
    await page.press("Escape", "3")
    assert "Seconds to the first text" in await page.text(".card")
    await picture(page, "inspector-backends")
