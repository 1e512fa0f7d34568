"""Answers whose form the backend was only told of in words are held against it, on every surface that asks for one.

What a server that nobody knows does with a format beside tools, its replies and its refusals show: a wrong guess costs
one answer at most, and no other client anything.
"""

from typing import Any

import pytest

from proxy.core.tenants import digest
from tests.support.outcomes import CLOCK
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import Line, ScriptedBackend, answer, delta, reply, text
from tests.support.two_tenants import TENANTS, shown_by

SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "name": "f", "schema": SCHEMA}
IN_WORDS: dict[str, Any] = {"overrides": {"formats": []}}
ASK = {"model": "m", "input": "Hi", "text": {"format": FORM}}


async def answered(proxy: Proxy, who: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    async with proxy.post(ASK | more, **who or {}) as response:
        answer: dict[str, Any] = await response.json()
        return answer


def warnings(answer: dict[str, Any]) -> list[str]:
    found: list[str] = answer.get("_proxy", {}).get("warnings", [])
    return [warning.partition(":")[0] for warning in found]


async def test_a_breach_is_told_and_counted(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(reply(text('{"days": "three"}')))
    proxy = await start_proxy(backend=IN_WORDS)
    answer = await answered(proxy)
    assert (answer["status"], warnings(answer)) == ("completed", ["unfit_answer"])
    assert proxy.log.request["oddities"] == {"unfit_answer": 1}


async def test_an_answer_that_fits_says_nothing(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(reply(text('{"days": 3}')))
    assert warnings(await answered(await start_proxy(backend=IN_WORDS))) == []


async def test_what_the_backend_enforces_is_its_own_matter(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(reply(text("Three days.")))
    assert warnings(await answered(proxy)) == []


@pytest.mark.parametrize(("mode", "code"), [("enforce", "unfit_answer"), ("off", None)])
async def test_the_rules_decide(
    backend: ScriptedBackend, start_proxy: StartProxy, mode: str, code: str | None
) -> None:
    backend.answers(reply(text("Three days.")))
    proxy = await start_proxy(backend=IN_WORDS, limits={"validate_answers": mode})
    answer = await answered(proxy)
    assert warnings(answer) == []
    assert (answer.get("error") or {}).get("code") == code


async def test_chat_clients_are_told_too(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(reply(text("Three days.")))
    proxy = await start_proxy(backend=IN_WORDS)
    wanted = {"type": "json_schema", "json_schema": {"name": "f", "schema": SCHEMA}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "response_format": wanted}
    async with proxy.session.post(f"{proxy.url}/v1/chat/completions", json=body) as response:
        assert warnings(await response.json()) == ["unfit_answer"]


# ── beside tools, at a server that nobody knows ──

BESIDE: dict[str, Any] = {"tools": [CLOCK]}
FITS = reply(text('{"days": 3}'))
CALLS = reply(
    delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "get_time", "arguments": "{}"}}])
)


def enforced(backend: ScriptedBackend) -> list[bool]:
    """Of which requests has the backend got the format as such? All others have it in words."""
    asked = [received.json for received in backend.received]
    assert all(("response_format" in body) != ("JSON Schema" in str(body["messages"])) for body in asked)
    return ["response_format" in body for body in asked]


def learned(proxy: Proxy) -> list[Any]:
    return [line["fields"] for line in proxy.log.named("reply_learned")]


async def test_a_call_beside_the_format_shows_that_there_is_room_for_both(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(CALLS, FITS)
    for _ in range(3):
        assert warnings(await answered(proxy, **BESIDE)) == []
    assert enforced(backend) == [True, True, True]
    assert learned(proxy) == [{"calls_beside_format": True}]


async def test_an_answer_before_any_call_may_have_been_one_of_a_server_that_loses_calls(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """From then on its models are told in words, and can call."""

    async def format_wins(line: Line) -> None:
        while True:
            line.send(FITS if "response_format" in (await line.request()).json else CALLS)

    backend.plays(format_wins)
    kinds = [[item["type"] for item in (await answered(proxy, **BESIDE))["output"]] for _ in range(3)]
    assert kinds == [["message"], ["function_call"], ["function_call"]]
    assert enforced(backend) == [True, False, False]
    assert learned(proxy) == [{"format_with_tools": False}]
    await answered(proxy)
    assert enforced(backend)[-1], "without tools nothing is lost"


async def test_a_server_that_ignores_the_format_is_told_in_words(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Whatever it calls. Nobody's answer is another than was asked for without a remark."""
    prose = reply(text("Three days."))
    backend.answers(CALLS, prose, prose)
    said = [warnings(await answered(proxy, **BESIDE)) for _ in range(3)]
    assert said == [[], ["unfit_answer"], ["unfit_answer"]]
    assert enforced(backend) == [True, True, False]
    assert learned(proxy) == [{"calls_beside_format": True}, {"format_with_tools": False}]


@pytest.mark.parametrize(
    ("words", "lesson"),
    [
        ("response_format cannot be combined with tools", "format_with_tools"),
        ("Ungültige Anfrage.", "format_evidence"),
    ],
)
async def test_a_refusal_of_both_teaches_in_any_words(
    words: str, lesson: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(answer(400, {"error": {"message": words}}), CALLS)
    for _ in range(2):
        assert (await answered(proxy, **BESIDE))["status"] == "completed"
    assert enforced(backend) == [True, False, False]
    (line,) = proxy.log.named("refusal_learned")
    assert line["lessons"] == [lesson]


async def test_a_refusal_for_another_reason_teaches_nothing_of_it(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    refusal = answer(400, {"error": {"message": "No."}})
    backend.answers(refusal, refusal, CALLS)
    assert "error" in await answered(proxy, **BESIDE)
    await answered(proxy, **BESIDE)
    assert enforced(backend) == [True, False, True]


async def test_one_client_decides_for_itself_only(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    proxy = await start_proxy(tenants=TENANTS)
    backend.answers(FITS, CALLS)
    await answered(proxy, shown_by("ann"), **BESIDE)
    await answered(proxy, shown_by("bob"), **BESIDE)
    assert enforced(backend) == [True, True]


async def test_what_two_clients_have_taught_comes_to_its_end_for_all_others(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Their replies go on as they are asked, and teach nothing by that."""
    proxy = await start_proxy(tenants=TENANTS | {"cid": {"keys": [digest("of cid")]}})
    backend.answers(FITS, FITS, CALLS)
    for name in ("ann", "bob"):
        await answered(proxy, shown_by(name), **BESIDE)
    for _ in range(2):
        await answered(proxy, {"Authorization": "Bearer of cid"}, **BESIDE)
    assert enforced(backend) == [True, True, False, False]
    assert len(proxy.log.named("reply_learned")) == 2


async def test_a_call_that_was_demanded_shows_nothing(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Servers that are told to call let a format wait. And one that does not call has not ignored the demand: the
    format was in the way."""
    backend.answers(CALLS, FITS, CALLS)
    only = {"type": "function", "name": "get_time"}
    await answered(proxy, tool_choice="required", **BESIDE)
    assert learned(proxy) == []
    assert (await answered(proxy, tool_choice=only, **BESIDE))["error"]["code"] == "tool_call_required"
    assert learned(proxy) == [{"format_with_tools": False}]
    await answered(proxy, tool_choice=only, **BESIDE)
    assert isinstance(backend.received[-1].json["tool_choice"], dict)
    assert enforced(backend) == [True, True, False]


@pytest.mark.parametrize(("said", "sent"), [(True, [True, True]), (False, [False, False])])
async def test_what_the_operator_says_of_it_stays(
    said: bool, sent: list[bool], backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"overrides": {"format_with_tools": said}})
    backend.answers(FITS)
    for _ in range(2):
        await answered(proxy, **BESIDE)
    assert enforced(backend) == sent
    assert learned(proxy) == []
