"""What a backend teaches, over real sockets: the first request, the learning, and the following request.

Each lesson of the code has a row (`lesson_rows.py`); the test that misses one names it.
"""

from typing import Any

import pytest

from proxy.core.dialects.reading.lessons import DOUBTS
from proxy.core.dialects.reading.reply_lessons import CHAT_ROWS, COMMON_ROWS, OPENAI_ROWS
from proxy.core.dialects.registry import DIALECTS
from tests.contract.lesson_rows import (
    HELLO,
    MODELS,
    PROVIDERS,
    REFUSED,
    REPLIED,
    SETTINGS,
    Json,
    Refused,
    Replied,
    refusal,
)
from tests.scripted.say import Say, SayCall
from tests.support.proxies import Proxy, StartProxy, events, final
from tests.support.sockets import END, HEAD, Line, Received, ScriptedBackend, http_chunk

WELL = Say(text="Hello.")


@pytest.fixture
def replayed() -> None:
    """In place of the one for this folder: a replay puts a request as it was put first, and has no remarks of its later
    forms."""


CALLING = Say(calls=[SayCall("toolu_2", "look", {})])


def said(dialect: str, say: Say) -> bytes:
    return b"".join((HEAD, http_chunk(b"".join(PROVIDERS[dialect].stream(say))), END))


def language(row: Refused, asked: Received) -> str:
    if row.dialect in ("chat", "responses"):
        return "responses" if asked.path.endswith("/responses") else "chat"
    return row.dialect


def plays(backend: ScriptedBackend, row: Refused) -> None:
    refusals: list[bytes | None] = [refusal(row, words) for words in row.words]
    queue = [*([None] if row.turn else []), *refusals, None, *(refusals if row.kept == "once" else [])]

    async def script(line: Line) -> None:
        turn = row.turn
        while True:
            asked = await line.request()
            refused = queue.pop(0) if queue else None
            well = CALLING if "tool_choice" in row.ask else WELL
            say, turn = (turn, None) if turn and not refused else (well, turn)
            line.send(refused or said(language(row, asked), say))

    backend.plays(script)


async def answered(proxy: Proxy, body: Json, *, native: bool = False) -> list[Any]:
    path = "/native/v1/chat/completions" if native else "/v1/responses"
    async with proxy.session.post(f"{proxy.url}{path}", json=body) as response:
        assert response.status == 200, await response.text()
        answer = await response.json()
    return [] if native else list(answer["output"])


async def items_of(proxy: Proxy, ask: Json) -> list[Any]:
    """The items of an answer, if it is one."""
    async with proxy.post(ask) as response:
        if ask.get("stream"):
            return list(final(events(await response.read()))["output"])
        return list((await response.json()).get("output", []))


def request_of(row: Refused) -> Json:
    body = {"model": row.model or MODELS[row.dialect], **row.ask}
    if row.native:
        return body | {"messages": [{"role": "user", "content": "Hi"}]}
    return {"input": "Hi", "store": False, "include": ["reasoning.encrypted_content"]} | body


def results(output: list[Any]) -> list[Json]:
    """Of the calls in an answer."""
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "Nothing."}
        for item in output
        if item["type"] == "function_call"
    ]


def differing(one: Received, other: Received) -> set[str]:
    a, b = one.json, other.json
    return {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)}


@pytest.mark.parametrize("row", REFUSED, ids=str)
async def test_what_a_refusal_teaches(
    row: Refused, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    settings = SETTINGS[row.dialect]
    overrides = settings.get("overrides", {}) | row.on
    proxy = await start_proxy(backend=settings | {"overrides": overrides})
    plays(backend, row)
    ask = request_of(row)
    if row.turn:
        tools = [{"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}]
        output = await answered(proxy, ask | {"tools": tools})
        ask |= {"tools": tools, "input": [{"role": "user", "content": "Hi"}, *output, *results(output)]}
        backend.received.clear()
    for _ in range(2):
        await answered(proxy, ask, native=row.native)
    sent = backend.received
    times = len(row.words)
    first, learning, following = sent[0], sent[times], sent[times + 1]
    if row.lessons == "wire":
        assert first.path != learning.path
    else:
        assert differing(first, learning) == row.differs
    if row.kept == "kept":
        assert (following.path, following.json) == (learning.path, learning.json)
    elif row.kept == "once":
        assert (following.path, following.json) == (first.path, first.json)
        assert len(sent) == 2 * times + 2
    else:
        assert differing(first, following) == differing(learning, following) == row.differs
    line = proxy.log.named("refusal_learned")[0]
    told = row.lessons.split()
    assert (line["lessons"], line["once"]) == ((told, []) if row.kept != "once" else ([], told))


@pytest.mark.parametrize("row", REPLIED, ids=str)
async def test_what_a_reply_teaches(row: Replied, backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(row.said, row.then or HELLO)
    ask: Json = {"model": "m", "input": [{"role": "user", "content": "Hi"}], **row.ask}
    output = await items_of(proxy, ask)
    if row.goes_on:
        ask |= {"input": [*ask["input"], *output, *results(output)]}
    second = await items_of(proxy, ask)
    sent = backend.received
    assert differing(*sent) == row.differs
    assert proxy.log.named("reply_learned")[0]["fields"] == row.fields
    if row.field:
        carried = [row.field in each for each in sent[1].json["messages"] if each["role"] == "assistant"]
        assert carried == [True]
    if row.lesson == "thoughts":
        kinds = [[item["type"] for item in items] for items in (output, second)]
        assert kinds == [["message"], ["reasoning", "message"]]


def test_each_lesson_of_a_refusal_has_a_row() -> None:
    missing = [
        f"{name}: {row.name}: {row.pattern.pattern}"
        for name, dialect in DIALECTS.items()
        for row in dialect().lessons
        if not any(_teaches(each, name, row.name, row.pattern) for each in REFUSED)
    ]
    assert not missing, f"These lessons have no row in lesson_rows.py: {missing}"
    assert {*DOUBTS, "wire"} <= {row.lessons for row in REFUSED}


def _teaches(row: Refused, dialect: str, lesson: str, pattern: Any) -> bool:
    pairs = zip(row.lessons.split(), row.words, strict=True)
    return row.dialect == dialect and any(
        name == lesson and pattern.search(words) is not None for name, words in pairs
    )


def test_each_lesson_of_a_reply_has_a_row() -> None:
    lessons = {row.__name__.strip("_") for row in (*COMMON_ROWS, *OPENAI_ROWS, *CHAT_ROWS)}
    missing = lessons - {row.lesson for row in REPLIED}
    assert not missing, f"These lessons have no row in lesson_rows.py: {missing}"
