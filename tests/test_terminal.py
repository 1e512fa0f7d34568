"""`serve` on a terminal, which is a real one: a line for each request that a person can read."""

import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from tests.support.programs import started, toml
from tests.support.sockets import ScriptedBackend, answer, reply, scripted, text
from tests.support.terminals import OnTerminal, on_a_terminal

HOSTILE = "m\x1b]0;mine\x07\x1b[2J\r\n\u202eevil\x9b1A"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
LISTENING = "Listening on "
EXAMPLE = "curl "
SHOWN_AT_START = "/inspector\r\n"
"""The end of it."""


@pytest.fixture
async def backend() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        yield backend


@pytest.fixture
def config(backend: ScriptedBackend, tmp_path: Path) -> Path:
    file = tmp_path / "proxy.toml"
    sections = {
        "server": {"port": 0},
        "backend": {"url": backend.url, "profile": "default"},
        "store": {"url": "off"},
    }
    file.write_text(toml(sections), encoding="utf-8")
    return file


def serve(config: Path, *options: str) -> tuple[str | Path, ...]:
    return ("-m", "proxy", "serve", "--config", config, *options)


async def asked(url: str, **body: Any) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/responses", json={"model": "m", "input": "Hi"} | body) as response,
    ):
        await response.read()
        return response.status


async def lines_of(shown: OnTerminal, last: str) -> list[str]:
    """Those behind what is shown at the start, once this has been shown."""
    return (await shown.until(last)).rpartition(SHOWN_AT_START)[2].strip().splitlines()


async def test_a_request_is_one_readable_line_in_colours(backend: ScriptedBackend, config: Path) -> None:
    backend.answers(reply(text("Hello")))
    async with on_a_terminal(*serve(config)) as shown:
        assert EXAMPLE in await shown.until(SHOWN_AT_START)
        assert await asked(shown.url) == 200
        (line,) = await lines_of(shown, "completed")
    assert COLOR.search(line)
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  m → backend  \d+ in, \d+ out  first word [\d.]+ m?s  [\d.]+ m?s in all  completed",
        COLOR.sub("", line),
    )


async def test_the_example_asks_for_a_model_that_the_backend_has(
    backend: ScriptedBackend, config: Path
) -> None:
    """It is for a shell: a name that this would obey is passed over."""
    backend.answers(answer(200, {"data": [{"id": "m'; true; '"}, {"id": "org/m-1:x"}]}))
    async with on_a_terminal(*serve(config)) as shown:
        assert '"model": "org/m-1:x", "stream": true' in await shown.until(SHOWN_AT_START)


async def test_where_no_model_is_listed_it_is_said_what_to_look_for(
    backend: ScriptedBackend, config: Path
) -> None:
    backend.answers(answer(401, {"error": {"message": "no key"}}))
    async with on_a_terminal(*serve(config)) as shown:
        said = await shown.until(SHOWN_AT_START)
    assert '"model": "MODEL", "stream": true' in said
    assert f"No list of models comes from {backend.url}, so MODEL stands for one of its models." in said


async def test_whoever_stops_it_is_told_what_it_waits_for(config: Path) -> None:
    async with on_a_terminal(*serve(config)) as shown:
        await shown.until(SHOWN_AT_START)
        shown.process.send_signal(signal.SIGINT)
        await shown.until("What is under way has 20 s to end; Ctrl+C once more gives it none.")
        assert await shown.process.wait() == 0


async def test_no_colours_where_nobody_wants_them(backend: ScriptedBackend, config: Path) -> None:
    backend.answers(reply(text("Hello")))
    async with on_a_terminal(*serve(config), NO_COLOR="1") as shown:
        await shown.until(SHOWN_AT_START)
        await asked(shown.url)
        (line,) = await lines_of(shown, "completed")
    assert "\x1b" not in line


async def test_what_was_mended_is_told_in_words(backend: ScriptedBackend, config: Path) -> None:
    tool = {"type": "function", "name": "get", "parameters": {"type": "object"}}
    leaked = '<tool_call>\n{"name": "get", "arguments": {}}\n</tool_call>'
    backend.answers(reply(text(leaked)))
    async with on_a_terminal(*serve(config), NO_COLOR="1") as shown:
        await shown.until(SHOWN_AT_START)
        await asked(shown.url, tools=[tool])
        (line,) = await lines_of(shown, "became")
    assert line.endswith("completed, 1 call  (a tool call in the text became a call (hermes))")


async def test_nothing_that_others_say_reaches_the_terminal_as_it_is(
    backend: ScriptedBackend, config: Path
) -> None:
    """S15: names of models and tools, what a model says, and what a backend refuses with."""
    refusal = answer(400, {"error": {"message": HOSTILE, "code": HOSTILE}})
    backend.answers(answer(200, {"data": [{"id": HOSTILE}]}), reply(text(HOSTILE)), refusal)
    async with on_a_terminal(*serve(config), NO_COLOR="1") as shown:
        await shown.until(SHOWN_AT_START)
        assert await asked(shown.url, model=HOSTILE) == 200
        await shown.until("completed")
        tool = {"type": "function", "name": HOSTILE, "parameters": {"type": "object"}}
        await asked(shown.url, tools=[tool])
        assert await asked(shown.url) == 400
        await shown.until(" 400 ")
        written = shown.written
    assert [each for each in written if not (each.isprintable() or each in "\r\n")] == []
    assert written.count("\r\n") == written.count("\n")


async def test_quiet_says_where_it_listens_and_what_goes_wrong(
    backend: ScriptedBackend, config: Path
) -> None:
    backend.answers(reply(text("Hello")))
    async with on_a_terminal(*serve(config, "--quiet")) as shown:
        await shown.until(LISTENING)
        await shown.until("\r\n")
        assert await asked(shown.url) == 200
        shown.process.send_signal(signal.SIGTERM)
        assert await shown.process.wait() == 0
        assert shown.written.count("\r\n") == 1
        assert EXAMPLE not in shown.written


async def test_the_form_of_the_lines_can_be_forced(backend: ScriptedBackend, config: Path) -> None:
    backend.answers(reply(text("Hello")))
    async with on_a_terminal(*serve(config, "--log-format", "json")) as shown:
        await shown.until(SHOWN_AT_START)
        await asked(shown.url)
        assert orjson.loads((await lines_of(shown, '"request"'))[-1])["model"] == "m"


@pytest.mark.parametrize(("form", "is_json"), [("auto", True), ("console", False)])
async def test_elsewhere_lines_are_json_unless_somebody_wants_them_otherwise(
    backend: ScriptedBackend, config: Path, form: str, is_json: bool
) -> None:
    backend.answers(reply(text("Hello")))
    async with started(sys.executable, *serve(config, "--log-format", form)) as process:
        await asked(process.url)
        process.signal(signal.SIGTERM)
        await process.ended()
    written = process.written.decode()
    assert ('"event":"request"' in written) is is_json
    assert ("completed\n" in written) is not is_json
    assert "\x1b" not in written
