"""P06 on every surface, streamed and not and over a WebSocket: what just keeps to a limit passes in silence, and what
is one beyond it is refused, told, or let pass, as the surface does by itself or the tenant has it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.core.tenants import Mode, digest
from proxy.settings.root import Settings
from tests.contract.cases import Ask, Tool, failed
from tests.contract.tenancy import TEXT_ROUND, Way, every_way, talking
from tests.scripted.say import Say, SayCall

Json = dict[str, Any]
STRING = {"type": "string"}
MODES = {"itself": None, **{mode.value: mode for mode in Mode}}


def objects(levels: int) -> Json:
    schema: Json = STRING
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


def tools(count: int = 1, description: str = "d", parameters: Mapping[str, Any] | None = None) -> Ask:
    each = Tool("f", description, parameters or objects(1))
    return Ask(tools=tuple(replace(each, name=f"f{number}") for number in range(count)))


DECLARED = {
    "tools": (tools(128), tools(129), "array_above_max_length", "tools"),
    "description": (tools(description="é" * 1024), tools(description="é" * 1025), None, ".description"),
    "depth": (tools(parameters=objects(5)), tools(parameters=objects(6)), None, ".parameters"),
}
"""At the limit, one beyond it, and how the latter is refused."""


@every_way
@pytest.mark.parametrize("mode_name", MODES)
@pytest.mark.parametrize("limit", DECLARED)
async def test_what_may_be_declared(way: Way, limit: str, mode_name: str) -> None:
    """P06: `enforce` is the native surface's own mode, `warn` that of the others."""
    at_it, beyond, code, param = DECLARED[limit]
    mode = MODES[mode_name] or (Mode.ENFORCE if way[0] == "native" else Mode.WARN)
    rules = {} if MODES[mode_name] is None else {"mode": mode.value}
    async with talking(way, "chat", at_it, [TEXT_ROUND.says], rules) as (talk, url, provider):
        answer = await talk.round(url, TEXT_ROUND)
        assert (answer.outcome, list(answer.warnings)) == (TEXT_ROUND.outcome, [])
    async with talking(way, "chat", beyond, [TEXT_ROUND.says], rules) as (talk, url, provider):
        answer = await talk.round(url, TEXT_ROUND)
        if mode is Mode.ENFORCE:
            assert answer.outcome == failed(code or "tool_limit_exceeded"), answer.said
            assert answer.said["param"].endswith(param)
            assert provider.requests == []
        else:
            assert answer.outcome == TEXT_ROUND.outcome
            assert len(answer.warnings) == (mode is Mode.WARN)


CALLS = [SayCall(f"call_{number}", "f0", {"n": number}) for number in range(21)]
LONGEST = "é" * ((64 * 1024 - len('{"s":""}')) // 2)


def saying(text: str) -> Say:
    return Say(calls=[SayCall("call_a", "f0", {"s": text})])


MADE = {
    "calls": (Say(calls=CALLS[:20]), Say(calls=CALLS), "too_many_tool_calls"),
    "arguments": (saying(LONGEST), saying(LONGEST + "x"), "tool_arguments_too_large"),
}


@every_way
@pytest.mark.parametrize("mode_name", MODES)
@pytest.mark.parametrize("limit", MADE)
async def test_what_the_model_may_make(way: Way, limit: str, mode_name: str) -> None:
    """P06: calls in a reply, and bytes of UTF-8 in the arguments of one."""
    at_it, beyond, code = MADE[limit]
    mode = MODES[mode_name] or (Mode.ENFORCE if way[0] == "native" else Mode.WARN)
    rules = {} if MODES[mode_name] is None else {"mode": mode.value}
    for say, breaks in ((at_it, False), (beyond, True)):
        async with talking(way, "chat", tools(), [say], rules) as (talk, url, _):
            answer = await talk.round(url, replace(TEXT_ROUND, says=say))
        if breaks and mode is Mode.ENFORCE:
            assert answer.outcome.error == code, answer.said
            told = [arguments for _, arguments in answer.outcome.calls]
            assert say.calls[-1].arguments not in told
        else:
            assert [arguments for _, arguments in answer.outcome.calls] == [c.arguments for c in say.calls]
            assert answer.outcome.ending == "completed"
            remarks = [
                said for said in answer.warnings if "more than 20" in said or "longer than 65536" in said
            ]
            assert len(remarks) == (breaks and mode is Mode.WARN)


async def test_a_tenants_own_limits_go_before_those_of_everybody() -> None:
    """P06, per tenant: one may be spared what all others are held to."""
    rules = {"mode": "warn", "description_characters": 2048}
    everybody = {"mode": "enforce", "description_characters": 10}
    ask = tools(description="d" * 2048)
    async with talking(("chat", False), "chat", ask, [TEXT_ROUND.says], rules, limits=everybody) as (
        talk,
        url,
        _,
    ):
        answer = await talk.round(url, TEXT_ROUND)
        assert (answer.outcome, list(answer.warnings)) == (TEXT_ROUND.outcome, [])
    async with talking(("chat", False), "chat", ask, [TEXT_ROUND.says], {}, limits=everybody) as (
        talk,
        url,
        _,
    ):
        assert (await talk.round(url, TEXT_ROUND)).outcome == failed("tool_limit_exceeded")


SETTINGS = {
    "tools": (1, 128, tools(1), tools(2)),
    "description_characters": (3, 4096, tools(description="ddd"), tools(description="dddd")),
    "schema_depth": (1, 10, tools(parameters=objects(1)), tools(parameters=objects(2))),
}
"""Each with a value, the largest that it may have, what keeps to the value and what does not."""


@pytest.mark.parametrize("name", SETTINGS)
async def test_each_limit_is_a_setting_of_its_tenant(name: str) -> None:
    """P06"""
    value, _, at_it, beyond = SETTINGS[name]
    for ask, outcome in ((at_it, TEXT_ROUND.outcome), (beyond, None)):
        rules = {"mode": "enforce", name: value}
        async with talking(("chat", False), "chat", ask, [TEXT_ROUND.says], rules) as (talk, url, provider):
            answer = await talk.round(url, TEXT_ROUND)
            assert answer.outcome == outcome or (outcome is None and answer.outcome.ending == "error")
            assert bool(provider.requests) == (outcome is not None)


async def test_so_is_the_size_of_arguments() -> None:
    """P06: `{"s":""}` has eight bytes."""
    rules = {"mode": "enforce", "argument_bytes": 8}
    said = [saying(""), saying("x")]
    async with talking(("chat", False), "chat", tools(), said, rules) as (talk, url, _):
        assert (await talk.round(url, TEXT_ROUND)).outcome.calls == (("f0", {"s": ""}),)
        assert (await talk.round(url, TEXT_ROUND)).outcome == failed("tool_arguments_too_large")


LARGEST = {name: most for name, (_, most, *_) in SETTINGS.items()} | {
    "argument_bytes": 256 * 1024,
    "calls": 50,
}


@pytest.mark.parametrize("name", LARGEST)
@pytest.mark.parametrize("section", ["limits", "tenants"])
def test_no_limit_is_raised_beyond_the_largest(name: str, section: str) -> None:
    """P06"""

    def settings(value: int) -> Settings:
        rules = {name: value}
        tenants = {"one": {"keys": [digest("k")], **rules}}
        return Settings.model_validate({"tenants": tenants} if section == "tenants" else {"limits": rules})

    settings(LARGEST[name])
    with pytest.raises(ValidationError, match=name):
        settings(LARGEST[name] + 1)
