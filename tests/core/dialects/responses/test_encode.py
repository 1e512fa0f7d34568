"""Each wish of a request in the API's words, or dropped and counted."""

from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, Hosted, OutputFormat, ReasoningWish, Sampling
from proxy.core.profile import BackendProfile
from tests.support.responses_requests import MODEL, OPENAI, body_of, local, openai, tool_spec
from tests.support.tables import table

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def test_the_least_request() -> None:
    """Nothing is left behind at the backend."""
    assert body_of() == {
        "model": MODEL,
        "input": [{"type": "message", "role": "user", "content": "Hi"}],
        "store": False,
        "stream": True,
    }


def test_whole_where_a_stream_has_no_usage() -> None:
    assert body_of(on=local(usage_when_whole=True))["stream"] is False
    assert body_of(on=local(usage_when_whole=True), stream=True)["stream"] is True


WAYS = {"context": "all_turns", "mode": "pro"}


@table(
    ("wish", "on", "told", "dropped"),
    [
        (ReasoningWish(), OPENAI, None, {}),
        (ReasoningWish("high"), OPENAI, {"effort": "high"}, {}),
        (ReasoningWish("none"), OPENAI, {"effort": "none"}, {}),
        (ReasoningWish("high", "auto"), openai(summaries=True), {"effort": "high", "summary": "auto"}, {}),
        (ReasoningWish(None, "auto"), openai(summaries=True), {"summary": "auto"}, {}),
        (ReasoningWish("high", "auto"), openai(summaries=False), {"effort": "high"}, {}),
        (ReasoningWish("high"), openai(effort_field="none"), None, {"reasoning_effort": 1}),
        (ReasoningWish(None, "auto"), openai(effort_field="none", summaries=True), None, {}),
        (ReasoningWish("max"), openai(effort_map={"max": "high"}), {"effort": "high"}, {}),
        (ReasoningWish("none"), openai(effort_map={"none": "disabled"}), {"effort": "none"}, {}),
        (ReasoningWish("low"), openai(effort_map={"low": "enabled"}), None, {"reasoning_effort": 1}),
        (ReasoningWish("none"), openai(effort_map={"none": None}), None, {"reasoning_effort": 1}),
        (ReasoningWish("low", ways=WAYS), openai(ways_of_thinking=True), {"effort": "low", **WAYS}, {}),
        (ReasoningWish(ways=WAYS), openai(ways_of_thinking=True, effort_field="none"), WAYS, {}),
        (ReasoningWish(ways=WAYS), OPENAI, None, {"reasoning_context": 1, "reasoning_mode": 1}),
    ],
)
def test_thinking(wish: ReasoningWish, on: BackendProfile, told: Any, dropped: dict[str, int]) -> None:
    ledger = Ledger()
    assert body_of(reasoning=wish, on=on, ledger=ledger).get("reasoning") == told
    assert ledger.dropped == dropped


def test_thoughts_are_wanted_in_a_form_that_can_come_back() -> None:
    assert body_of(on=openai(sealed_thoughts=True))["include"] == ["reasoning.encrypted_content"]


TUNED = Sampling(0.5, 0.9, 1.0, 1.0, seed=7, stop=["x"], logprobs=True, top_logprobs=3)


def test_tuning() -> None:
    """The API has no words for some of it; local servers take them all the same."""
    ledger = Ledger()
    body = body_of(sampling=TUNED, verbosity="low", ledger=ledger)
    assert {name: body[name] for name in ("temperature", "top_p", "top_logprobs", "include", "text")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_logprobs": 3,
        "include": ["message.output_text.logprobs"],
        "text": {"verbosity": "low"},
    }
    assert ledger.dropped == dict.fromkeys(("presence_penalty", "frequency_penalty", "seed", "stop"), 1)
    beside = frozenset({"presence_penalty", "frequency_penalty", "seed", "stop"})
    body = body_of(sampling=TUNED, on=local(tuning_beside_api=beside))
    assert [body[name] for name in ("presence_penalty", "frequency_penalty", "seed", "stop")] == [
        1,
        1,
        7,
        ["x"],
    ]
    assert "logprobs" not in body


@table(
    ("limit", "changes", "told"),
    [
        (None, {}, None),
        (99, {}, 99),
        (1, {"length_least": 16}, 16),
        (None, {"length_default": 500}, 500),
        (99, {"length_default": 500}, 99),
    ],
)
def test_the_limit(limit: int | None, changes: dict[str, Any], told: int | None) -> None:
    body = body_of(sampling=Sampling(max_tokens=limit), on=openai(**changes))
    assert body.get("max_output_tokens") == told


def test_the_form_of_the_answer() -> None:
    wanted = OutputFormat(FormatKind.JSON_SCHEMA, "answer", SCHEMA, "Says.", strict=True)
    assert body_of(format=wanted, verbosity="low")["text"] == {
        "format": {
            "type": "json_schema",
            "name": "answer",
            "schema": SCHEMA,
            "description": "Says.",
            "strict": True,
        },
        "verbosity": "low",
    }
    assert body_of(format=OutputFormat(FormatKind.JSON_OBJECT))["text"] == {"format": {"type": "json_object"}}
    body = body_of(format=wanted, on=local(), tools=[tool_spec()])
    assert "text" not in body
    assert "must be valid against this JSON Schema" in body["instructions"]


def test_the_profiles_patch_comes_last() -> None:
    assert body_of(on=openai(extra={"store": True, "stream": None, "more": {"a": 1}})) == {
        "model": MODEL,
        "input": [{"type": "message", "role": "user", "content": "Hi"}],
        "store": True,
        "more": {"a": 1},
    }


def test_results_of_hosted_tools_are_wanted_where_they_run() -> None:
    wanted = "web_search_call.action.sources"
    hosted = Hosted([{"type": "web_search"}], include=[wanted])
    assert body_of(hosted=hosted)["include"] == [wanted]
    assert "include" not in body_of(hosted=hosted, on=openai(hosted_tools=frozenset()))
