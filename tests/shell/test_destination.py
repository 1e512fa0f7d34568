"""A reply needs nobody who is connected: a destination that only records has it whole."""

from collections.abc import Callable

import orjson
import pytest

from proxy.core.errors import Truncated
from proxy.shell.destination import Destination
from proxy.shell.http.stream import HttpStream
from proxy.shell.websocket.stream import SocketStream
from tests.support.in_memory import (
    CALLER,
    CHAT,
    Recorder,
    ScriptedExchange,
    ScriptedTransport,
    engine_on,
    said,
)
from tests.support.proxies import LogLines
from tests.support.turn_stores import UNTOUCHED

MEMBERS = sorted(
    name for name in {*vars(Destination), *Destination.__annotations__} if not name.startswith("_")
)


async def streamed(*pieces: bytes | Exception) -> tuple[Recorder, LogLines]:
    recorder, log = Recorder(), LogLines()

    async def body(_: object) -> object:
        return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}

    async with engine_on(ScriptedTransport(ScriptedExchange(pieces)), log) as engine:
        await engine.respond(CHAT, body, CALLER, recorder, UNTOUCHED)
    return recorder, log


def words(recorder: Recorder) -> str:
    events = [frame.removeprefix(b"data: ") for frame in b"".join(recorder.frames).split(b"\n\n")]
    chunks = [orjson.loads(event) for event in events if event.startswith(b"{")]
    return "".join(
        chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk.get("choices")
    )


async def test_a_stream_is_recorded() -> None:
    recorder, log = await streamed(*said("Hel", "lo"))
    assert (words(recorder), recorder.ending) == ("Hello", "finished")
    assert log.request["status"] == 200


async def test_and_so_is_one_that_breaks_off() -> None:
    recorder, log = await streamed(said("Hel")[0], Truncated("It broke off."))
    assert words(recorder) == "Hel"
    assert log.request["code"] == Truncated.code


@pytest.mark.parametrize("kind", [HttpStream, SocketStream, Recorder])
def test_all_three_are_made_of_the_same_members(kind: Callable[..., Destination]) -> None:
    """And none inherits from another, to switch parts of it off."""
    made = {*dir(kind), *kind.__init__.__code__.co_names}  # type: ignore[misc]
    assert [name for name in MEMBERS if name not in made] == []
    assert [base.__name__ for base in kind.__mro__] == [kind.__name__, "object"]  # type: ignore[attr-defined]
