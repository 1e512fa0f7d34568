"""The page as people use it: by keys, in the dark, on a phone, and without eyes."""

import pytest

from tests.inspector.pages import browser, open_newest, page, picture, proxy
from tests.support.browser import Page
from tests.support.proxies import Proxy, backend, start_proxy
from tests.support.sockets import ScriptedBackend, finish, reply, text

__all__ = ["backend", "browser", "page", "proxy", "start_proxy"]

PARTS = ("overview", "requests", "events", "text")
VIEWS = ("requests", "conversations", "backends", "tenants")

NAMELESS = """
[...document.querySelectorAll('a, button, input, select, summary, [role=img], section, nav')].filter((element) =>
  element.checkVisibility() && !(element.ariaLabel || element.title || element.innerText || element.labels?.length
    || element.querySelector?.('title') || element.placeholder)).map((element) => element.outerHTML.slice(0, 200))
"""

FAINT = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] > 250) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!said || !element.checkVisibility() || element instanceof SVGElement) continue;
    const [one, two] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.className} ${element.innerText.slice(0, 30)}`);
  }
  return faint;
})()
"""


async def go(page: Page, view: str) -> None:
    await page.evaluate(f"location.hash = '#/{view}'")
    await page.until(f"document.querySelector('#views a[aria-current]').hash === '#/{view}'")


async def says(page: Page, selector: str, words: str) -> None:
    """Once it does: a request that has just been answered may still be shown as a live one."""
    await page.until(f"document.querySelector({selector!r})?.innerText.includes({words!r})")


async def test_before_the_first_request_it_says_what_to_do(page: Page, proxy: Proxy) -> None:
    assert f"curl {proxy.url}/v1/responses" in await page.text(".empty")


async def test_a_request_appears_by_itself(page: Page, proxy: Proxy) -> None:
    await proxy.stream(model="a-model")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    assert "a-model" in await page.text(".requests tbody")
    await says(page, ".requests tbody", "completed")


async def test_keys_alone_lead_everywhere(page: Page, proxy: Proxy) -> None:
    for number in range(3):
        await proxy.stream(model=f"model-{number}")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    await page.press("ArrowDown")
    assert "model-2" in await page.text(".right h2")
    await page.press("ArrowDown", "j")
    await page.until("document.querySelector('.right h2')?.innerText.includes('model-0')")
    await page.press("k")
    await page.until("document.querySelector('.right h2')?.innerText.includes('model-1')")
    for part in PARTS[1:]:
        await page.press("ArrowRight")
        await page.until(f"location.hash.endsWith('/{part}')")
    await page.press("ArrowLeft")
    await page.until("location.hash.endsWith('/events')")
    await page.press("Escape")
    await page.until("location.hash === '#/requests'")
    await page.press("ArrowDown")
    await page.until("document.querySelector('.right h2')?.innerText.includes('model-0')")
    await page.press("Escape", "/")
    await page.until("document.activeElement.id === 'search'")
    await page.type("model-0")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    await page.press("Escape")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    await page.press("Escape")
    for number, view in enumerate(VIEWS, 1):
        await page.press(str(number))
        await page.until(f"location.hash === '#/{view}'")
    await page.press("?")
    assert "the request above, below" in await page.text("dialog")
    await page.press("Escape")
    await page.until("document.querySelector('dialog') === null")


async def test_what_has_the_focus_is_seen(page: Page, proxy: Proxy) -> None:
    await proxy.stream()
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    for _ in range(6):
        await page.press("Tab")
        assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")


async def test_filters_leave_what_fits(page: Page, proxy: Proxy) -> None:
    await proxy.stream(model="one")
    await proxy.refused(model="two", input=5)
    await page.until("document.querySelectorAll('.requests tbody tr').length === 2")
    await page.evaluate(
        "(() => { const filter = document.querySelector('select[name=outcome]');"
        "filter.value = 'failed'; filter.dispatchEvent(new Event('change')); })()"
    )
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    assert "failed" in await page.evaluate("document.querySelector('select[name=outcome]').value")


async def test_it_stops_and_goes_on(page: Page, proxy: Proxy) -> None:
    await page.press("p")
    assert "paused" in await page.text("#standing")
    await proxy.stream()
    await page.press("p")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_is_faint_and_all_has_a_name(page: Page, proxy: Proxy, scheme: str) -> None:
    await page.scheme(scheme)
    await proxy.stream()
    await proxy.refused(input=5)
    async with proxy.post({"model": "m", "input": "Hi", "seed": 3}) as response:
        await response.read()
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    for part in PARTS:
        await open_newest(page, part)
        assert await page.evaluate(FAINT) == []
        assert await page.evaluate(NAMELESS) == []
    if scheme == "dark":
        await picture(page, "inspector-dark")
    for view in VIEWS:
        await go(page, view)
        assert await page.evaluate(FAINT) == []
        assert await page.evaluate(NAMELESS) == []


async def test_the_switch_stays(page: Page, proxy: Proxy) -> None:
    before = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.click("#theme")
    after = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    await page.open(f"{proxy.url}/inspector?again")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == after


async def test_a_phone_shows_all_without_going_sideways(page: Page, proxy: Proxy) -> None:
    await proxy.stream(model="a-model-with-a-rather-long-name-that-some-people-like-to-give", tools=[])
    await page.resize(360, 740, phone=True)
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    wide = "[document.scrollingElement, document.querySelector('main')].some((each) => each.scrollWidth > innerWidth)"
    assert not await page.evaluate(wide)
    for part in PARTS:
        await open_newest(page, part)
        assert not await page.evaluate(wide)
        assert not await page.evaluate("document.querySelector('.right').scrollWidth > innerWidth")
        assert await page.evaluate("!document.querySelector('.left').checkVisibility()")
    await open_newest(page)
    await picture(page, "inspector-phone")
    for view in VIEWS:
        await go(page, view)
        assert not await page.evaluate(wide)


async def test_a_tablet_shows_each_column_whole(page: Page, proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(reply(text('<tool_call>{"name": "weather", "arguments": {}}</tool_call>')))
    await proxy.stream(model="a-model-with-a-name", tools=[{"type": "function", "name": "get_weather"}])
    await proxy.refused(model="a-model-with-a-name", previous_response_id="resp_" + 48 * "0")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 2")
    for width in (720, 820, 1000):
        await page.resize(width, 900)
        assert not await page.evaluate(
            "document.querySelector('.left').scrollWidth > document.querySelector('.left').clientWidth"
        ), width


async def test_conversations_are_a_tree(page: Page, proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        first = (await response.json())["id"]
    for _ in range(2):
        async with proxy.post({"model": "m", "input": "On", "previous_response_id": first}) as response:
            await response.read()
    await page.press("2")
    await page.until("document.querySelectorAll('.tree .tree li').length === 2")
    assert "3 responses" in await page.text(".talk")
    await page.click(".talk h3 button")
    assert first in await page.text(".found")


async def test_only_what_can_be_continued_is_in_the_tree(page: Page, proxy: Proxy) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    async with proxy.session.post(f"{proxy.url}/v1/chat/completions", json=chat) as response:
        await response.read()
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        kept = (await response.json())["id"]
    async with proxy.post({"model": "m", "input": "Hi", "store": False}) as response:
        await response.read()
    await page.until("document.querySelectorAll('.requests tbody tr').length === 3")
    await page.press("2")
    await page.until("document.querySelectorAll('.talk').length === 1")
    assert kept in await page.text(".talk")
    assert await page.text(".talk h3 button") == "Look into the store"


async def test_a_refusal_at_the_door_says_why(page: Page, proxy: Proxy) -> None:
    async with proxy.session.post(f"{proxy.url}/v1/messages", json={}) as response:
        assert response.status == 404
    await page.until("document.querySelectorAll('.requests tbody tr').length === 1")
    await says(page, ".requests tbody td.ending", "not found 404")


async def test_no_word_is_broken_where_there_is_room(
    page: Page, proxy: Proxy, backend: ScriptedBackend
) -> None:
    backend.answers(reply(text('<tool_call>{"name": "weather", "arguments": {}}</tool_call>')))
    await proxy.stream(tools=[{"type": "function", "name": "get_weather"}])
    await open_newest(page)
    broken = (
        "[...document.querySelectorAll('.counters code')].some((code) => code.getClientRects().length > 1)"
    )
    aside = "[...document.querySelectorAll('.wide')].some((each) => each.scrollWidth > each.clientWidth)"
    for width in (1280, 360):
        await page.resize(width, 740, phone=width < 700)
        assert not await page.evaluate(broken)
        assert not await page.evaluate(aside)
    await go(page, "tenants")
    await page.until("document.querySelector('.tenants') !== null")
    assert not await page.evaluate(aside)


async def test_a_long_name_moves_nothing_out_of_the_list(
    page: Page, proxy: Proxy, backend: ScriptedBackend
) -> None:
    backend.answers(reply(text("Hel"), finish("length")))
    await proxy.stream(model="a-model-with-a-rather-long-name-that-some-people-like-to-give")
    await proxy.refused(previous_response_id="resp_" + 48 * "0")
    await page.until("document.querySelectorAll('.requests tbody tr').length === 2")
    await says(page, ".requests tbody tr:last-child", "limit of tokens")
    assert await page.evaluate("document.querySelector('.requests tbody tr:last-child .dot.bad') !== null")
    await open_newest(page)
    left = "document.querySelector('.left')"
    assert not await page.evaluate(f"{left}.scrollWidth > {left}.clientWidth")
    assert "0 bytes" not in await page.text(".facts"), "of a refusal nobody counts them"
