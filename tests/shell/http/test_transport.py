"""Whoever asks backends does not need a network: a transport is what sends a post and brings an exchange."""

import pytest

from proxy.core.errors import BackendFault, Truncated
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


async def asked(transport: ScriptedTransport, **wishes: object) -> Recorder:
    recorder, log = Recorder(), LogLines()

    async def body(_: object) -> object:
        return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **wishes}

    async with engine_on(transport, log) as engine:
        await engine.respond(CHAT, body, CALLER, recorder, UNTOUCHED)
    return recorder


async def test_a_reply_comes_from_a_script() -> None:
    exchange = ScriptedExchange(said("Hel", "lo"))
    transport = ScriptedTransport(exchange)
    recorder = await asked(transport)
    assert recorder.body["choices"][0]["message"]["content"] == "Hello"
    assert transport.bodies[0]["messages"] == [{"role": "user", "content": "Hi"}]
    assert transport.posts[0].url == "https://backend.example/v1/chat/completions"
    assert exchange.over == "released"


async def test_a_refusal_teaches_and_the_request_is_sent_in_another_way() -> None:
    words = b'{"error": {"message": "Unsupported parameter: `stream_options`"}}'
    first, second = ScriptedExchange([words], status=400), ScriptedExchange(said("Hello"))
    transport = ScriptedTransport(first, second)
    await asked(transport)
    assert ["stream_options" in body for body in transport.bodies] == [True, False]
    assert (first.over, second.over) == ("closed", "released")


async def test_what_breaks_off_is_a_fault() -> None:
    exchange = ScriptedExchange([said("Hel")[0], Truncated("It broke off.")])
    with pytest.raises(BackendFault) as raised:
        await asked(ScriptedTransport(exchange))
    assert (raised.value.code, exchange.over) == (Truncated.code, "closed")
