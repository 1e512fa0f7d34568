"""Answers whose form the backend was only told of in words are held against it, on every surface that asks for one."""

from typing import Any

import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, reply, text

SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "name": "f", "schema": SCHEMA}
IN_WORDS: dict[str, Any] = {"overrides": {"formats": []}}
ASK = {"model": "m", "input": "Hi", "text": {"format": FORM}}


async def answered(proxy: Proxy, **more: Any) -> dict[str, Any]:
    async with proxy.post(ASK | more) as response:
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
