"""The request as a whole, field by field."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import Incompatible
from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, OutputFormat, ReasoningWish, Sampling, ToolName, ToolSpec
from tests.support.anthropic_requests import body_of, on, said, sent
from tests.support.chat_requests import system, user
from tests.support.tables import table

SAMPLER = "claude-sonnet-4-6"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}
"""Names of properties that nobody lists cannot be enforced."""
AS_SCHEMA = OutputFormat(FormatKind.JSON_SCHEMA, "n", SCHEMA)


def test_a_request_in_full() -> None:
    assert body_of(system("S"), user("Hi")) == {
        "model": "claude-opus-5-5",
        "max_tokens": 128_000,
        "system": [{"type": "text", "text": "S"}],
        "messages": [said("Hi")],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "stream": True,
        "cache_control": {"type": "ephemeral"},
    }


@table(
    ("sampling", "how", "expected", "dropped"),
    [
        ({"temperature": 0.5}, {}, {"temperature": 0.5}, []),
        ({"temperature": 0.0}, {}, {"temperature": 0.0}, []),
        ({"temperature": 1.7}, {}, {"temperature": 1.0}, []),
        ({"top_p": 0.5}, {}, {"top_p": 0.5}, []),
        ({"temperature": 0.5, "top_p": 0.5}, {}, {"temperature": 0.5}, ["top_p"]),
        ({"temperature": 0.5}, {"model": "claude-opus-5"}, {}, ["temperature"]),
        ({"temperature": 0.5, "top_p": 1}, {"reasoning": ReasoningWish("low")}, {}, ["temperature", "top_p"]),
        (
            {"temperature": 0.5},
            {"profile": on(headers={"Anthropic-Version": "2026-10-21"})},
            {},
            ["temperature"],
        ),
        ({"temperature": 0.5}, {"profile": on(tuning=frozenset())}, {}, ["temperature"]),
        ({"temperature": 0.5}, {"model": "kimi-k2"}, {"temperature": 0.5}, []),
        ({"stop": ["a", "b"]}, {"model": "claude-opus-5"}, {"stop_sequences": ["a", "b"]}, []),
        ({"stop": [" ", "a"]}, {}, {"stop_sequences": ["a"]}, ["stop"]),
        ({"stop": ["\n"]}, {}, {}, ["stop"]),
        ({"seed": 1}, {}, {}, ["seed"]),
        ({"presence_penalty": 1, "frequency_penalty": 0}, {}, {}, ["presence_penalty"]),
        ({"logprobs": True, "top_logprobs": 2}, {}, {}, ["logprobs", "top_logprobs"]),
        ({}, {"verbosity": "low"}, {}, ["verbosity"]),
    ],
)
def test_tuning(sampling: dict, how: dict, expected: dict, dropped: list[str]) -> None:
    """What a model, a version or a thought excludes is left out and counted, never refused for the client."""
    ledger = Ledger()
    body = body_of(sampling=Sampling(**sampling), ledger=ledger, **{"model": SAMPLER} | how)
    known = {"temperature", "top_p", "stop_sequences", "seed", "verbosity", "logprobs"}
    assert {name: body[name] for name in known & body.keys()} == expected
    assert sorted(ledger.dropped) == dropped


def test_a_schema_for_the_answer() -> None:
    body = body_of(format=AS_SCHEMA, reasoning=ReasoningWish("low"))
    assert body["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert "system" not in body


def test_a_schema_stands_beside_tools() -> None:
    assert "format" in body_of(format=AS_SCHEMA, tools=[ToolSpec(ToolName("f"))])["output_config"]


@table(
    ("how", "dropped"),
    [
        ({"format": OutputFormat(FormatKind.JSON_OBJECT)}, 0),
        ({"format": AS_SCHEMA, "model": "kimi-k2"}, 0),
        ({"format": AS_SCHEMA, "profile": on(formats=frozenset())}, 0),
        ({"format": OutputFormat(FormatKind.JSON_SCHEMA, "n", OPEN)}, 1),
    ],
)
def test_what_is_not_enforced_is_asked_for_in_words(how: dict[str, Any], dropped: int) -> None:
    ledger = Ledger()
    body = body_of(system("S"), user("Hi"), ledger=ledger, **how)
    assert "format" not in body.get("output_config", {})
    assert body["system"][0]["text"] == "S"
    assert "must be one JSON object" in body["system"][1]["text"]
    assert ledger.dropped.get("format_enforcement", 0) == dropped


def test_a_client_that_insists_is_refused() -> None:
    """What cannot be enforced is named."""
    with pytest.raises(Incompatible) as refused:
        body_of(format=OutputFormat(FormatKind.JSON_SCHEMA, "n", OPEN, strict=True))
    assert refused.value.details == {"incompatible_features": ["additionalProperties"]}


def test_the_profile_has_the_last_word() -> None:
    ledger = Ledger()
    body = body_of(profile=on(extra={"cache_control": None, "max_tokens": 5}), ledger=ledger)
    assert "cache_control" not in body
    assert body["max_tokens"] == 5


def test_the_same_request_makes_the_same_bytes() -> None:
    tools = [ToolSpec(ToolName(name, "ns"), parameters={"type": "object"}) for name in "fgh"]
    texts = {sent(system("S"), user("Hi"), tools=list(tools), format=AS_SCHEMA) for _ in range(3)}
    assert len(texts) == 1
    assert jsontext.loads(texts.pop())["tools"][2]["name"] == "ns__h"


@table(
    ("asked", "tier", "metadata", "dropped"),
    [
        ({"service_tier": "auto"}, "auto", None, {}),
        ({"service_tier": "default"}, "standard_only", None, {}),
        ({"service_tier": "flex"}, "standard_only", None, {"service_tier": 1}),
        ({"service_tier": "flex", "profile": on(tuning=frozenset())}, None, None, {"service_tier": 1}),
        ({"user": "u-1"}, None, {"user_id": "u-1"}, {}),
        ({"user": "a@b.example"}, None, None, {"user": 1}),
        ({"user": "u" * 257}, None, None, {"user": 1}),
        ({"user": "u-1", "profile": on(tuning=frozenset())}, None, None, {"user": 1}),
    ],
)
def test_for_whom_it_is_asked_and_how_fast(
    asked: dict, tier: object, metadata: object, dropped: dict
) -> None:
    """An address would tell more of the user than an id, and is refused."""
    ledger = Ledger()
    body = body_of(**asked, ledger=ledger)
    assert (body.get("service_tier"), body.get("metadata")) == (tier, metadata)
    assert ledger.dropped == dropped


def test_what_is_not_enforced_of_the_answer_is_told() -> None:
    ledger = Ledger()
    bounded = SCHEMA | {"properties": {"x": {"type": "string", "maxLength": 3}}}
    body_of(format=OutputFormat(FormatKind.JSON_SCHEMA, "n", bounded), ledger=ledger)
    assert ledger.dropped == {"schema:maxLength": 1}
    assert "maxLength" in ledger.warnings[0]
