"""What a request may cost is counted, whoever works on it: what costs more is refused by name, and holds up nobody.

How long the loop is held is measured by the processor's clock of its thread: what is done beside it does not count.
"""

import asyncio
from typing import Any

import pytest

from proxy.core import jsontext
from tests.support.loop_delay import post_aside, watching
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, delta, finish, reply

HELD_SECONDS = 0.2
"""The bound that is promised is 250 ms."""

TOO_COMPLEX = "request_too_complex"
Json = dict[str, Any]


async def asked(proxy: Proxy, **fields: Any) -> tuple[int, Json]:
    """Status and error, while the loop was watched."""
    body = jsontext.dumps({"model": "m", "input": "Hi"} | fields)
    async with watching() as watch:
        status, answer = await post_aside(f"{proxy.url}/v1/responses", body)
    assert watch.longest < HELD_SECONDS
    return status, answer.get("error") or {}  # type: ignore[return-value]


def tools(count: int, make: Any) -> list[Json]:
    return [{"type": "function", "name": f"f{n}", "parameters": make(n)} for n in range(count)]


def of(schema: Json, **root: Any) -> Json:
    return {"type": "object", "properties": {"x": schema}, **root}


# ── schemas ──


def doubling(number: int, levels: int = 11, text: int = 30_000) -> Json:
    steps = {
        f"d{n}": {"properties": {"a": {"$ref": f"#/$defs/d{n + 1}"}, "b": {"$ref": f"#/$defs/d{n + 1}"}}}
        for n in range(levels)
    }
    last = {"type": "string", "description": f"{number}" + "x" * text}
    return of({"$ref": "#/$defs/d0"}, **{"$defs": steps | {f"d{levels}": last}})


def short_and_growing(number: int) -> Json:
    """A kilobyte that becomes two thousand schemas."""
    return doubling(number, 9, 10)


def required_lists(number: int) -> Json:
    return of({"allOf": [{"required": [f"p{number} {n} {m}" for m in range(20)]} for n in range(200)]})


def overlapping(number: int) -> Json:
    """Branches that are told apart only at the bottom of each, by what each of them requires."""

    def branch(kind: int) -> Json:
        schema: Json = {"const": kind}
        for level in range(5):
            beside = {f"{name}{level}": {"type": "object", "required": ["q"]} for name in "yz"}
            schema = {"type": "object", "required": ["x", *beside], "properties": {"x": schema} | beside}
        return schema

    return of({"oneOf": [branch(1_000 * number + kind) for kind in range(48)]})


def rare_words(number: int) -> Json:
    return {
        "type": "object",
        "properties": {
            f"p{number} {n}": {"$vocabulary": {"x:y": True}, "$dynamicRef": "#a"} for n in range(900)
        },
    }


@pytest.mark.parametrize(
    ("profile", "make"),
    [
        ("anthropic", short_and_growing),
        ("google", short_and_growing),
        ("google", required_lists),
        ("google", overlapping),
        ("default", rare_words),
        ("mistral", doubling),
        ("google", doubling),
    ],
)
async def test_attack_13_the_schemas_of_one_request_share_what_they_may_cost(
    profile: str, make: Any, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """attack-03 by the last two. The overlapping branches are bounded by what they are told apart by."""
    proxy = await start_proxy(backend={"profile": profile})
    status, error = await asked(proxy, tools=tools(60, make))
    assert (status, error["code"]) in {(400, TOO_COMPLEX), (400, "tool_schema_incompatible")}, error
    assert error["param"].startswith("tools[")
    assert not backend.received


async def test_attack_03_one_tool_is_cut_where_it_grows_beyond_reason(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    """101 KB became 205 MB; a schema is told at most a megabyte of what it refers to, and the client is told so."""
    proxy = await start_proxy(backend={"profile": "mistral"})
    status, _ = await asked(proxy, tools=tools(1, doubling))
    assert status == 200
    assert len(backend.received[0].body) < 2 << 20
    assert proxy.log.request["dropped"] == {"schema:$ref": 1}


async def test_the_tools_of_a_large_agent_are_served(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    proxy = await start_proxy(backend={"profile": "google", "overrides": {"dialect": "chat"}})

    def honest(number: int) -> Json:
        names = [f"field_{n}" for n in range(20)]
        said = {"type": ["string", "null"], "description": f"What {number} needs.", "maxLength": 100}
        return {"type": "object", "properties": dict.fromkeys(names, said), "required": names}

    status, error = await asked(proxy, tools=tools(128, honest))
    assert status == 200, error


# ── arguments ──


def calls(*arguments: str) -> bytes:
    """A reply with these calls of the first tool."""
    return reply(
        *(
            delta(tool_calls=[{"index": n, "id": f"c{n}", "function": {"name": "f0", "arguments": text}}])
            for n, text in enumerate(arguments)
        ),
        finish("tool_calls"),
    )


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.shell.offload.processes.CHECK_SECONDS", 0.3)


CHECKED = {"request_options": {"validate_tool_arguments": True}}
UNCHECKED = "unchecked_tool_arguments"
ENDLESS = of({"type": "string", "pattern": "^((((a*){2}){2}){2}){2}$"})


@pytest.mark.usefixtures("brief")
async def test_attack_02_a_pattern_without_end_costs_its_request_alone(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    """The loop never came back, and SIGTERM was not heard."""
    backend.answers(calls(f'{{"x":"{"a" * 40}!"}}'), calls('{"x":"aa"}'))
    status, error = await asked(proxy, tools=tools(1, lambda _: ENDLESS), **CHECKED)
    assert (status, error["code"]) == (502, UNCHECKED)
    assert "Simplify the tool's schema" in error["message"]
    assert proxy.log.named("check_abandoned")
    assert proxy.log.request["oddities"][UNCHECKED] == 1
    status, error = await asked(proxy, tools=tools(1, lambda _: of({"pattern": "^(a)+$"})), **CHECKED)
    assert status == 200, error


@pytest.mark.usefixtures("brief")
async def test_attack_02_a_stream_is_told_as_well(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(calls(f'{{"x":"{"a" * 40}!"}}', '{"x":"aa"}'))
    found = await proxy.stream(tools=tools(1, lambda _: ENDLESS), **CHECKED)
    failed = next(event for event in found if event.name == "response.failed")
    assert failed.data["response"]["error"]["message"].startswith("The model's call of f0 is unchecked")
    assert not [event for event in found if event.name == "response.function_call_arguments.delta"]


@pytest.mark.usefixtures("brief")
async def test_attack_02_where_calls_are_observed_the_client_is_warned(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    proxy = await start_proxy(limits={"validate_tool_arguments": "observe"})
    backend.answers(calls(f'{{"x":"{"a" * 40}!"}}'))
    body = {"model": "m", "input": "Hi", "tools": tools(1, lambda _: ENDLESS)}
    async with proxy.post(body) as response:
        answer = await response.json()
    assert answer["status"] == "completed"
    assert any("is unchecked" in warning for warning in answer["_proxy"]["warnings"]), answer


async def test_calls_are_held_to_patterns_that_were_never_matched_before(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    of_words = of({"type": "string", "pattern": "^([a-z]+-)*[a-z]+$"})
    backend.answers(calls('{"x":"ab-cd"}', '{"x":"ab-"}'))
    status, error = await asked(proxy, tools=tools(1, lambda _: of_words), **CHECKED)
    assert (status, error["code"]) == (502, "invalid_tool_arguments")
    assert "at .x" in error["message"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (of({"items": {"enum": [*range(20_000)]}}), f'{{"x":{[19_999] * 1_000}}}'),
        (of({"allOf": [{"items": {}}] * 450}), f'{{"x":{[1] * 1_000}}}'),
        (of({"unevaluatedItems": False, "allOf": [{"contains": {}}] * 200}), f'{{"x":{[1] * 2_000}}}'),
        (of({"anyOf": [{"type": "string"}] * 900}), f'{{"x":{[1] * 20_000}}}'),
    ],
)
async def test_attack_10_whatever_a_check_loops_over_it_holds_nobody(
    schema: Json, said: str, proxy: Proxy, backend: ScriptedBackend
) -> None:
    """6 KB of arguments took 36.8 seconds."""
    backend.answers(calls(said.replace(" ", "")))
    status, error = await asked(proxy, tools=tools(1, lambda _: schema), **CHECKED)
    assert status in (200, 502), error
    assert error.get("code") in (None, UNCHECKED, "invalid_tool_arguments")


async def test_attack_10_many_brief_checks_hold_nobody_either(
    start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    proxy = await start_proxy(limits={"mode": "off"})
    said = f'{{"x":{[1] * 1_000}}}'.replace(" ", "")
    backend.answers(calls(*[said] * 300))
    status, error = await asked(proxy, tools=tools(1, lambda _: of({"items": {"minimum": 0}})), **CHECKED)
    assert status in (200, 502), error


async def test_v41_a_pattern_that_cannot_be_read_is_not_enforced_in_silence(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    """One that can be put into Python's words is; of the other the client is warned, and its call passes."""
    backend.answers(calls('{"x":"1"}'))
    status, error = await asked(proxy, tools=tools(1, lambda _: of({"pattern": r"^\p{L}+$"})), **CHECKED)
    assert (status, error["code"]) == (502, "invalid_tool_arguments")
    body = {"model": "m", "input": "Hi", "tools": tools(1, lambda _: of({"pattern": r"^\p{Script=Latin}+$"}))}
    async with proxy.post(body | CHECKED) as response:
        answer = await response.json()
    assert answer["status"] == "completed"
    assert answer["_proxy"]["warnings"] == [
        "The model's call of f0 fits its schema, but the pattern "
        r"'^\p{Script=Latin}+$' cannot be read here, and was not "
        "enforced."
    ]


# ── bodies ──


async def test_several_bodies_below_a_mebibyte_hold_up_nobody_together(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    """attack-22: ten of 1 MiB at once were read one after the other, in half a second."""
    backend.answers(reply(delta(content="Hello")))
    body = b'{"model":"m","input":"Hi","x":[' + b"[]," * 340_000 + b"0]}"
    async with watching() as watch:
        answers = await asyncio.gather(*(post_aside(f"{proxy.url}/v1/responses", body) for _ in range(3)))
    assert [status for status, _ in answers] == [200] * 3
    assert watch.longest < 0.08
