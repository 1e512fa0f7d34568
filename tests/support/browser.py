"""A real Chromium without a window, driven by its DevTools protocol: what a person would see of a page, and do there.

`scripts/browser` installs it. The profile is new for each browser. Fonts and the size of the window are the same
everywhere, and so are pictures.
"""

import asyncio
import base64
import itertools
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.processes import ROOT

PLACE = ROOT / ".browser"
SECONDS = 20.0
"""For whatever a page is waited for, on a machine with much to do."""

FLAGS = (
    "--headless=shell",
    "--no-sandbox",  # there is none for root, and the pages are ours
    "--no-zygote",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--remote-debugging-port=0",
)
KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
}
"""Keys that are no letters: their code, their number, the text that they make."""

WAITING = """
new Promise((found, missed) => {
  const end = Date.now() + %d;
  const look = () => {
    let value;
    try { value = (%s); } catch (error) { value = false; }
    if (value) found(value);
    else if (Date.now() > end) missed(new Error("it never came: " + document.body.innerText.slice(0, 2000)));
    else requestAnimationFrame(look);
  };
  look();
})
"""


def program() -> Path:
    """Without it a test fails where all must run, and says so elsewhere."""
    chromium = Path(os.environ.get("CHROMIUM", PLACE / "chromium"))
    if not chromium.exists():
        why = "LEFT OUT: these tests need a browser; scripts/browser installs it"
        if os.environ.get("CI"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    return chromium


class PageFailed(AssertionError):
    """The page threw, or what was waited for never came."""


class Page:
    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser = browser
        self._session = session
        self.complaints: list[str] = []
        """What the page wrote to its console, threw, or was forbidden."""
        self.requested: list[str] = []
        """Every URL that it asked for."""

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **parameters)

    async def open(self, url: str) -> None:
        await self.call("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited if it is a promise."""
        done = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if details := done.get("exceptionDetails"):
            raise PageFailed(details.get("exception", {}).get("description", details["text"]))
        return done["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Waits for an expression to become true, and returns its value."""
        return await self.evaluate(WAITING % (SECONDS * 1000, expression))

    async def text(self, selector: str = "body") -> str:
        """What a person can read of the first such element."""
        text = await self.until(f"document.querySelector({selector!r})?.innerText ?? false")
        return str(text)

    async def click(self, selector: str) -> None:
        await self.until(f"document.querySelector({selector!r}) !== null")
        await self.evaluate(f"document.querySelector({selector!r}).click()")

    async def press(self, *keys: str) -> None:
        """Keys by their names, or single letters; `Shift+Tab` holds one down."""
        for key in keys:
            held = 8 if key.startswith("Shift+") else 0
            name = key.removeprefix("Shift+")
            code, number, text = KEYS.get(name, (f"Key{name.upper()}", ord(name[0].upper()), name))
            what = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": held}
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **what)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    async def type(self, text: str) -> None:
        await self.call("Input.insertText", text=text)

    async def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    async def scheme(self, name: str) -> None:
        """What the system prefers: `dark` or `light`."""
        features = [
            {"name": "prefers-color-scheme", "value": name},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def picture(self, *, whole: bool = False) -> bytes:
        """A PNG of what is seen, or of the `whole` page."""
        shot = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def told(self, method: str, parameters: dict[str, Any]) -> None:
        match method:
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description", details["text"]))
            case "Log.entryAdded":
                entry = parameters["entry"]
                self.complaints.append(f"{entry['level']}: {entry['text']}")
            case "Runtime.consoleAPICalled":
                self.complaints.append(f"console.{parameters['type']}")
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"dialog: {parameters['message']}")
            case "Network.requestWillBeSent":
                self.requested.append(parameters["request"]["url"])


class Browser:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}

    async def listen(self) -> None:
        async for message in self._socket:
            said = message.json()
            if (number := said.get("id")) is not None:
                answer = self._answers.pop(number)
                if not answer.done():
                    answer.set_result(said)
            elif page := self._pages.get(said.get("sessionId", "")):
                page.told(said["method"], said["params"])

    async def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(message | ({"sessionId": session} if session else {}))
        async with asyncio.timeout(2 * SECONDS):
            said = await answer
        if "error" in said:
            raise PageFailed(f"{method}: {said['error']['message']}")
        result: dict[str, Any] = said["result"]
        return result

    async def page(self, width: int = 1280, height: int = 800) -> Page:
        """A tab that shares nothing with the others."""
        context = await self.call("Target.createBrowserContext")
        target = await self.call(
            "Target.createTarget", url="about:blank", browserContextId=context["browserContextId"]
        )
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = self._pages[attached["sessionId"]] = Page(self, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            await page.call(f"{domain}.enable")
        await page.resize(width, height)
        await page.scheme("light")
        return page


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    chromium = program()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            chromium,
            *FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
            env=os.environ
            | {"LD_LIBRARY_PATH": str(PLACE / "lib"), "FONTCONFIG_FILE": str(PLACE / "fonts.conf")},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            url = await _address(process)
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(url, max_msg_size=0) as socket,
                asyncio.TaskGroup() as group,
            ):
                browser = Browser(socket)
                listening = group.create_task(browser.listen())
                yield browser
                listening.cancel()
        finally:
            process.kill()
            await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    """Where its DevTools listen, as it says when it has started."""
    assert process.stderr is not None
    said = b""
    async with asyncio.timeout(SECONDS):
        while line := await process.stderr.readline():
            said += line
            _, found, address = line.decode().strip().partition("DevTools listening on ")
            if found:
                return address
    raise AssertionError(f"the browser did not start:\n{said.decode()}")
