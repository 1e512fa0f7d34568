"""attack-07: what one request's refusal teaches changes nobody else's request.

Ann chooses any text of her request, and the backend repeats it in its refusal, in one way or another. Then Bob's
request reaches the backend as it did before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import orjson
import pytest

from proxy.core.tenants import digest as digest_of
from tests.support.outcomes import CLOCK, WEATHER, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import Line, Received, ScriptedBackend, answer, reply, text
from tests.support.two_tenants import TENANTS, shown_by

ANN, BOB = shown_by("ann"), shown_by("bob")

PICTURE = "data:image/png;base64,AAAA"
FORM = {"type": "json_schema", "name": "form", "schema": {"type": "object", "properties": {}}}
FULL: dict[str, Any] = {
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Hi"},
                {"type": "input_image", "image_url": PICTURE},
            ],
        }
    ],
    "reasoning": {"effort": "high"},
    "temperature": 0.5,
    "max_output_tokens": 100,
    "tools": [WEATHER, CLOCK],
    "text": {"format": FORM},
    "parallel_tool_calls": False,
}
"""All that a poison could take away."""

POISONS = [
    "banana",
    "image input is not supported",
    "tools: maximum number of items is 1",
    "stream_options unsupported",
    "Unknown parameter: temperature",
    "failed to parse grammar",
    "response_format.type must be 'text'",
    "'max_completion_tokens' is not supported",
    "This model only supports single tool-calls at once!",
    "Invalid tool_choice",
    "Unsupported value: 'temperature'",
    "reasoning_effort must be one of 'low', 'medium'",
    "property 'tools' is unsupported; property 'seed' is unsupported",
    "reasoning_effort",
    "not supported",
    "response_format cannot be combined with tools",
    "Grammar and tools are mutually exclusive",
    "Custom tools are not supported",
    "Un\u212anown parameter: tool_choice",
]

# The levels of thought that a backend lists in its own words do teach: Bob's is among them.
ECHOES = {
    "OpenAI": "Unsupported value: 'reasoning_effort' does not support '{}' with this model. Supported are 'low' and "
    "'high'.",
    "pydantic": "1 validation error for Request\nreasoning_effort\n  Input should be 'low' or 'high' "
    "[type=literal_error, input_value='{}', input_type=str]",
    "template": "Error rendering prompt with jinja template: Unexpected {}. This is not a bug",
    "nothing else": "{}",
    "between its own words": "Unknown parameter: {} is not supported: stream_options, temperature",
}


def shouted(words: str) -> str:
    return words.upper()


def cut(words: str) -> str:
    return f"{words[: len(words) * 2 // 3]}…"


def spelled(words: str) -> str:
    return orjson.dumps(words).decode()


def alone(words: str) -> str:
    return words


def wide(words: str) -> str:
    """As Ann may write it, so that it looks otherwise than what a backend makes of it."""
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in words)


def folded(words: str) -> str:
    return normalize("NFKC", words)


@dataclass
class Refuser:
    """Repeats what Ann chose, whatever it is, once; so whatever is learned from it seems to have helped."""

    form: str
    place: str
    quote: Callable[[str], str] = alone
    refused: int = 0
    last: str = ""

    async def plays(self, line: Line) -> None:
        while True:
            chosen = _chosen(await line.request(), self.place)
            words = self.form.format(self.quote(chosen)) if chosen else self.last
            if words == self.last:
                line.send(reply(text("Hello")))
                continue
            self.last = words
            self.refused += 1
            line.send(answer(400, {"error": {"message": words, "type": "invalid_request_error"}}))


MARK = "Poison: "


def _chosen(asked: Received, place: str) -> str | None:
    if place == "effort":
        effort: str | None = asked.json.get("reasoning_effort")
        return effort if effort != "high" else None
    at = asked.body.find(MARK.encode())
    return asked.body[at + len(MARK) :].split(b'"')[0].decode() if at >= 0 else None


PLACES: dict[str, Any] = {
    "effort": lambda words: {"reasoning": {"effort": words}},
    "prompt": lambda words: {"input": MARK + words},
    "instructions": lambda words: {"instructions": MARK + words},
    "description": lambda words: {"tools": [WEATHER | {"description": MARK + words}, CLOCK]},
}


async def bodies_of_bob(proxy: Proxy, backend: ScriptedBackend) -> list[bytes]:
    before = len(backend.received)
    assert (await told(proxy, BOB, **FULL)) == "completed | Hello"
    return [asked.body for asked in backend.received[before:]]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ECHOES)
@pytest.mark.parametrize("profile", ["openai", "default"])
async def test_attack_07_nothing_that_one_tenant_says_changes_what_another_s_request_becomes(
    profile: str, form: str, place: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    overrides = {"effort_field": "reasoning_effort"}
    proxy = await start_proxy(backend={"profile": profile, "overrides": overrides}, tenants=TENANTS)
    refuser = Refuser(ECHOES[form], place)
    backend.plays(refuser.plays)
    await bodies_of_bob(proxy, backend)  # whose replies teach him something, too
    expected = await bodies_of_bob(proxy, backend)
    for refuser.quote, spell in (
        (alone, alone),
        (shouted, alone),
        (cut, alone),
        (spelled, alone),
        (folded, wide),
    ):
        for poison in POISONS:
            await told(proxy, ANN, **{**FULL, **PLACES[place](spell(poison))})
    assert refuser.refused >= 5 * len(POISONS)
    assert await bodies_of_bob(proxy, backend) == expected


@pytest.mark.parametrize("place", PLACES)
async def test_attack_07_nor_her_own_next_request_where_the_words_are_hers(
    place: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Without tenants everybody behind one address is one owner, so the words have to be looked at as well."""
    proxy = await start_proxy(backend={"profile": "openai"})
    refuser = Refuser("", place)
    backend.plays(refuser.plays)
    expected = await bodies_of_bob(proxy, backend)
    for name in ("OpenAI", "pydantic", "template", "nothing else"):
        refuser.form = ECHOES[name]
        for refuser.quote, spell in ((alone, alone), (folded, wide)):
            for poison in POISONS:
                await told(proxy, **{**FULL, **PLACES[place](spell(poison))})
    assert refuser.refused >= 8 * len(POISONS)
    assert await bodies_of_bob(proxy, backend) == expected


async def test_attack_07_a_refused_value_is_left_out_of_its_own_request_only(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"profile": "openai"})
    backend.plays(Refuser(ECHOES["OpenAI"], "effort").plays)
    assert await told(proxy, reasoning={"effort": "banana"}) == "completed | Hello"
    assert await told(proxy, reasoning={"effort": "high"}) == "completed | Hello"
    assert [asked.json.get("reasoning_effort") for asked in backend.received] == ["banana", None, "high"]
    (line,) = proxy.log.named("refusal_learned")
    assert (line["lessons"], line["once"]) == ([], ["value"])


async def test_attack_07_words_of_the_client_do_not_make_a_second_request(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """They teach nothing, so the refusal stands, and is told."""
    proxy = await start_proxy(backend={"profile": "openai"})
    backend.plays(Refuser("I cannot make sense of '{}'.", "prompt").plays)
    assert (await told(proxy, input=f"{MARK}Unknown parameter: stream_options")).startswith("400")
    assert len(backend.received) == 1


NO_USAGE = answer(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})


def asks_for_usage(backend: ScriptedBackend) -> list[bool]:
    return ["stream_options" in asked.json for asked in backend.received]


async def test_attack_07_what_two_tenants_were_taught_holds_for_all_and_is_told_in_the_log(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    cid = "canary-key-of-cid-8901"
    tenants = TENANTS | {"cid": {"keys": [digest_of(cid)]}}
    proxy = await start_proxy(tenants=tenants)
    backend.answers(NO_USAGE, reply(text("Hello")), NO_USAGE, reply(text("Hello")))
    for who in (ANN, BOB, {"Authorization": f"Bearer {cid}"}, ANN):
        assert await told(proxy, who) == "completed | Hello"
    assert asks_for_usage(backend) == [True, False, True, False, False, False]
    for line in proxy.log.named("refusal_learned"):
        assert (line["backend"], line["model"], line["lessons"], line["minutes"]) == (
            "backend",
            "m",
            ["usage"],
            10,
        )


async def test_attack_07_it_must_be_taught_again_after_some_minutes(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.core.backends.learned.LASTS_SECONDS", 0)
    proxy = await start_proxy()
    backend.answers(NO_USAGE, reply(text("Hello")), NO_USAGE, reply(text("Hello")))
    for _ in range(2):
        assert await told(proxy) == "completed | Hello"
    assert asks_for_usage(backend) == [True, False, True, False]


async def test_attack_07_a_backend_that_changes_its_mind_costs_a_refusal_each_time_and_nobody_an_answer(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """It takes one of two names, and the other one the next time. What is held of it stays one lesson."""
    names = ("max_tokens", "max_completion_tokens")
    taken = 0

    async def flaps(line: Line) -> None:
        nonlocal taken
        while True:
            asked = (await line.request()).json
            wrong = names[1 - taken % 2]
            if wrong in asked:
                line.send(answer(400, {"error": {"message": f"'{wrong}' is not supported."}}))
            else:
                taken += 1
                line.send(reply(text("Hello")))

    backend.plays(flaps)
    for _ in range(8):
        assert await told(proxy, max_output_tokens=50) == "completed | Hello"
    assert len(backend.received) == 8 + 7
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        lines = (await response.text()).splitlines()
    held = [line for line in lines if line.startswith("responses_proxy_lessons_held{")]
    assert len(held) <= 1


async def test_attack_07_tools_that_are_called_like_fields_teach_nothing_of_them(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """A server may name the tool, or a property of it, where others name what they do not know."""
    proxy = await start_proxy(backend={"profile": "openai"})
    named = ("stream_options", "temperature", "tool_choice", "response_format", "seed")
    tools = [
        {"type": "function", "name": name, "parameters": {"type": "object", "properties": {name: {}}}}
        for name in named
    ]
    ask: dict[str, Any] = FULL | {"tools": tools}
    backend.answers(reply(text("Hello")))
    await told(proxy, **ask)
    for words in (
        "Unknown parameter: '{}'.",
        "property '{}' is unsupported",
        "Invalid tools[0].function.{}: Unsupported parameter: '{}'",
        "Unsupported value: '{}'",
    ):
        for name in named:
            refusal = answer(400, {"error": {"message": words.replace("{}", name)}})
            backend.answers(refusal, reply(text("Hello")))
            await told(proxy, **ask)
    backend.answers(reply(text("Hello")))
    await told(proxy, **ask)
    assert backend.received[-1].body == backend.received[0].body
    assert all(not line["lessons"] for line in proxy.log.named("refusal_learned"))
