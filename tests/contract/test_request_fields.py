"""What becomes of each field of a Responses request before a backend that has that API: no field is without its row.

The fields are those of the official SDK, so that a new one of its makes the first test fail by its name.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)

from proxy.core import jsontext
from proxy.core.backends.model_rules import for_model
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.errors import ClientFault
from proxy.core.flow.request import prepared_for
from proxy.core.ledger import Ledger
from proxy.core.surfaces.responses.decode import decode

Json = dict[str, Any]

URL = "http://backend.test/v1"
MODEL = "gpt-5.6"
SEARCH = {"type": "web_search"}
CLOCK = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}
STRICT = {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": False}


class Row(NamedTuple):
    asked: Any
    told: Any = None
    """What the backend is told; None: nothing."""
    counted: bool = False
    """Is it left out, and counted as that?"""
    beside: Mapping[str, Any] = {}
    """Other fields, without which this one means nothing."""


def passed(value: Any, **beside: Any) -> Row:
    return Row(value, value, beside=beside)


def ours(value: Any, told: Any = None) -> Row:
    """The proxy itself does what is asked for; `told`: what the backend is told in any case."""
    return Row(value, told)


def left_out(value: Any) -> Row:
    return Row(value, counted=True)


ROWS: Mapping[str, Row] = {
    "access_programs": left_out([{"id": "p"}]),
    "background": ours(True),
    "context_management": left_out([{"type": "compaction"}]),
    "conversation": ours("conv_1"),
    "image": left_out({"type": "x"}),
    "include": Row(
        ["web_search_call.action.sources"],
        ["reasoning.encrypted_content", "web_search_call.action.sources"],
        beside={"tools": [SEARCH]},
    ),
    "input": Row("Hi", [{"type": "message", "role": "user", "content": "Hi"}]),
    "instructions": passed("Be brief."),
    "max_output_tokens": passed(99),
    "max_tool_calls": passed(3, tools=[SEARCH]),
    "metadata": ours({"a": "b"}),
    "model": passed(MODEL),
    "moderation": left_out({"type": "x"}),
    "parallel_tool_calls": passed(False, tools=[CLOCK]),
    "previous_response_id": ours("resp_1"),
    "prompt_cache_key": passed("k"),
    "prompt_cache_options": left_out({"ttl": "1h"}),
    "prompt_cache_retention": passed("24h"),
    "reasoning": passed({"effort": "high", "summary": "auto"}),
    "safety_identifier": passed("s"),
    "service_tier": passed("flex"),
    "store": ours(True, told=False),
    "stream": ours(False, told=True),
    "stream_options": ours({"include_obfuscation": True}),
    "temperature": passed(0.5),
    "text": passed({"format": STRICT, "verbosity": "low"}),
    "tool_choice": passed("required", tools=[CLOCK]),
    "tools": passed([CLOCK | {"strict": False}, SEARCH]),
    "top_logprobs": passed(3),
    "top_p": passed(0.5),
    "truncation": left_out("auto"),
}
ELSEWHERE = {
    "prompt": "refused: another answer would come of it",
    "user": "told as safety_identifier, the newer name of the field",
}


def asked(name: str, row: Row) -> tuple[Json, Ledger]:
    """What a backend is asked, which offers everything."""
    ledger = Ledger()
    fields = {"model": MODEL, "input": "Hi", **row.beside, name: row.asked}
    profile = PROFILES["openai"]
    request = decode(fields, ledger, background=True, run=lambda: profile.hosted_tools)
    target = Target("main", URL, replace(for_model(profile, MODEL), wire="responses"))
    post = prepared_for(request, target, MODEL, URL, ledger).post
    body = jsontext.strict(post.body)
    assert isinstance(body, dict)
    return body, ledger


def test_every_field_of_the_api_has_its_row() -> None:
    known = ResponseCreateParamsStreaming.__annotations__ | ResponseCreateParamsNonStreaming.__annotations__
    assert sorted(known) == sorted({*ROWS, *ELSEWHERE})


@pytest.mark.parametrize("name", ROWS)
def test_what_becomes_of_it(name: str) -> None:
    row = ROWS[name]
    body, ledger = asked(name, row)
    assert body.get(name) == row.told
    assert ledger.dropped == ({name: 1} if row.counted else {})


def test_the_older_name_of_the_user() -> None:
    body, _ = asked("user", Row("u"))
    assert (body["safety_identifier"], "user" in body) == ("u", False)


def test_a_prompt_that_is_kept_elsewhere_is_refused() -> None:
    with pytest.raises(ClientFault) as refused:
        asked("prompt", Row({"id": "pmpt_1"}))
    assert refused.value.param == "prompt"


@pytest.mark.parametrize("name", ["service_tier", "max_tool_calls"])
def test_elsewhere_it_is_counted(name: str) -> None:
    ledger = Ledger()
    request = decode({"model": "m", "input": "Hi", name: ROWS[name].asked}, ledger)
    target = Target("main", URL, replace(PROFILES["vllm"], wire="responses"))
    post = prepared_for(request, target, "m", URL, ledger).post
    assert name not in jsontext.strict(post.body)
    assert ledger.dropped == {name: 1}
