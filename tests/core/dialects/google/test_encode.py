"""Each wish of a request in Gemini's words, read by the strict server, or dropped and counted."""

from typing import Any

from proxy.core.dialects.writing.notes import ALWAYS_THINKS
from proxy.core.ledger import Ledger
from proxy.core.model import (
    ChoiceMode,
    FormatKind,
    OutputFormat,
    ReasoningWish,
    Sampling,
    ToolChoice,
    ToolName,
)
from tests.support.chat_requests import assistant, call, result, tool, user
from tests.support.google_requests import NEW, OLD, body_of, google, tool_spec
from tests.support.tables import table

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
EMPTY = {"type": "object", "properties": {}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def config_of(**how: Any) -> Any:
    return body_of(**how).get("generationConfig")


def test_the_least_request() -> None:
    assert body_of() == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


# ── tools ──


def test_tools_are_declared_with_their_schemas_as_they_are() -> None:
    body = body_of(tools=[tool_spec("f", description="Does.", parameters=CITY), tool_spec("g")])
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "description": "Does.", "parametersJsonSchema": CITY},
                {"name": "g", "parametersJsonSchema": EMPTY},
            ]
        }
    ]


def test_older_endpoints_get_the_older_field() -> None:
    """Where `parameters` of nothing is refused."""
    body = body_of(
        tools=[tool_spec("f", parameters=CITY), tool_spec("g")],
        format=OutputFormat(FormatKind.JSON_SCHEMA, "a", SCHEMA),
        on=google(schema=frozenset({"plain", "google_proto"})),
    )
    declared = body["tools"][0]["functionDeclarations"]
    assert [each.keys() for each in declared] == [{"name", "parameters"}, {"name"}]
    assert body["generationConfig"].keys() == {"responseMimeType", "responseSchema"}


HARD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "kind": {"const": "a"},
        "count": {"type": "integer", "exclusiveMinimum": 0},
        "tags": {"type": "array", "uniqueItems": True, "items": {"type": ["string", "null"]}},
        "place": {"$ref": "#/$defs/place"},
    },
    "$defs": {
        "place": {"type": "object", "properties": {"x": {"enum": [1, 2]}}, "additionalProperties": False}
    },
    "additionalProperties": False,
}


def test_what_is_told_of_an_object_of_nothing_is_told_of_the_tool() -> None:
    """Older models refuse the object, and would not know that the tool takes a map."""
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    tools = [tool_spec("f", description="Adds.", parameters=counts), tool_spec("g", parameters=counts)]
    body = body_of(tools=tools, on=google(schema=frozenset({"plain", "google_proto"})))
    told = 'Constraint: additionalProperties {"type":"integer"}'
    assert body["tools"][0]["functionDeclarations"] == [
        {"name": "f", "description": f"Adds.\n{told}"},
        {"name": "g", "description": told},
    ]


@table("rule", ["google", "google_proto"])
def test_keywords_that_gemini_does_not_know_do_not_reach_it(rule: str) -> None:
    """Any of them is a refusal of the whole request."""
    body = body_of(tools=[tool_spec(parameters=HARD)], on=google(schema=frozenset({"plain", rule})))
    [declared] = body["tools"][0]["functionDeclarations"]
    told = str(declared.get("parameters") or declared["parametersJsonSchema"])
    assert not [
        word for word in ("$schema", "const", "exclusiveM", "uniqueItems'", "$ref") if f"'{word}" in told
    ]


@table("name", ["3d", "-x", "mcp__" + "server_" * 30 + "tool", "x.y z"])
def test_any_name_of_a_tool_becomes_one_that_gemini_takes(name: str) -> None:
    body = body_of(user("Hi"), assistant(call(name=name)), tool(result()), tools=[tool_spec(name)])
    [declared] = body["tools"][0]["functionDeclarations"]
    assert body["contents"][1]["parts"][0]["functionCall"]["name"] == declared["name"]
    assert len(declared["name"]) <= 64


@table(
    ("mode", "only", "strict", "model", "calling"),
    [
        ("auto", None, None, NEW, {"mode": "AUTO"}),
        ("none", None, None, NEW, {"mode": "NONE"}),
        ("required", None, None, NEW, {"mode": "ANY"}),
        ("required", ["f"], None, NEW, {"mode": "ANY", "allowedFunctionNames": ["f"]}),
        ("required", ["f", "g"], None, NEW, {"mode": "ANY"}),
        ("auto", ["f"], None, NEW, {"mode": "AUTO"}),
        ("auto", None, True, NEW, {"mode": "VALIDATED"}),
        ("required", None, True, NEW, {"mode": "ANY"}),
        ("auto", None, True, "gemini-2.0-flash", {"mode": "AUTO"}),
    ],
)
def test_the_choice_among_tools(
    mode: str, only: list[str] | None, strict: bool | None, model: str, calling: dict[str, Any]
) -> None:
    """P02: none, required, one and strict are all understood."""
    ledger = Ledger()
    allowed = None if only is None else frozenset(map(ToolName, only))
    tools = [tool_spec(name, strict=strict) for name in ("f", "g", "h")]
    body = body_of(tools=tools, choice=ToolChoice(ChoiceMode(mode), allowed), model=model, ledger=ledger)
    assert body["toolConfig"] == {"functionCallingConfig": calling}
    assert ledger.dropped == ({"strict": 1} if strict and calling == {"mode": "AUTO"} else {})


def test_tools_outside_of_the_choice_are_not_declared() -> None:
    body = body_of(
        tools=[tool_spec("f"), tool_spec("g")],
        choice=ToolChoice(ChoiceMode.AUTO, frozenset({ToolName("g")})),
    )
    assert [each["name"] for each in body["tools"][0]["functionDeclarations"]] == ["g"]


def test_the_wish_for_one_call_at_a_time_cannot_be_told() -> None:
    ledger = Ledger()
    body_of(tools=[tool_spec()], parallel_calls=False, ledger=ledger)
    assert ledger.dropped == {"parallel_tool_calls": 1}
    ledger = Ledger()
    body_of(parallel_calls=False, ledger=ledger)
    assert not ledger.dropped


# ── generation ──


def test_tuning_in_full() -> None:
    sampling = Sampling(0.5, 0.9, 0.1, 0.2, 7, ["a"], 100, True, 3)
    assert config_of(sampling=sampling) == {
        "temperature": 0.5,
        "topP": 0.9,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "seed": 7,
        "stopSequences": ["a"],
        "maxOutputTokens": 100,
        "responseLogprobs": True,
        "logprobs": 3,
    }


@table(
    ("sampling", "config", "dropped"),
    [
        (Sampling(), None, {}),
        (Sampling(temperature=0.0, seed=0), {"temperature": 0.0, "seed": 0}, {}),
        (Sampling(presence_penalty=0.0, stop=[]), None, {}),
        (Sampling(stop=list("abcdef")), {"stopSequences": list("abcde")}, {"stop": 1}),
        (Sampling(seed=2**31), None, {"seed": 1}),
        (Sampling(logprobs=True), {"responseLogprobs": True}, {}),
    ],
)
def test_tuning_within_its_limits(sampling: Sampling, config: Any, dropped: dict[str, int]) -> None:
    ledger = Ledger()
    assert config_of(sampling=sampling, ledger=ledger) == config
    assert ledger.dropped == dropped


def test_what_the_backend_does_not_know_is_dropped_and_counted() -> None:
    ledger = Ledger()
    config = config_of(
        sampling=Sampling(temperature=1, top_p=1),
        verbosity="low",
        on=google(tuning=frozenset({"top_p", "verbosity"}), length_default=50),
        ledger=ledger,
    )
    assert config == {"maxOutputTokens": 50, "topP": 1}
    assert ledger.dropped == {"temperature": 1, "verbosity": 1}


# ── thinking ──


@table(
    ("model", "effort", "summary", "config"),
    [
        (NEW, "high", None, {"thinkingLevel": "HIGH", "includeThoughts": True}),
        (NEW, "none", None, {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
        (NEW, None, "auto", {"includeThoughts": True}),
        (OLD, "low", None, {"thinkingBudget": 1024, "includeThoughts": True}),
        (OLD, "none", "auto", {"thinkingBudget": 0}),
    ],
)
def test_effort(model: str, effort: str | None, summary: str | None, config: dict[str, Any]) -> None:
    ledger = Ledger()
    wish = ReasoningWish(effort, summary)
    assert config_of(reasoning=wish, model=model, ledger=ledger) == {"thinkingConfig": config}
    assert not ledger.dropped


@table(
    ("model", "effort", "told"),
    [
        ("gemini-3-pro", "none", True),
        ("gemini-2.5-pro", "none", True),
        ("gemini-2.5-flash", "none", False),
        ("gemini-2.0-flash", "none", False),
        ("gemini-3-pro", "minimal", False),
    ],
)
def test_who_wants_no_thinking_is_told_where_it_cannot_be_had(model: str, effort: str, told: bool) -> None:
    ledger = Ledger()
    config_of(model=model, ledger=ledger, reasoning=ReasoningWish(effort))
    assert ledger.warnings == ([ALWAYS_THINKS] if told else [])


def test_effort_where_there_is_no_thinking_is_dropped() -> None:
    for how in ({"model": "gemini-2.0-flash"}, {"on": google(effort_field="none")}):
        ledger = Ledger()
        assert config_of(reasoning=ReasoningWish("high"), ledger=ledger, **how) is None
        assert ledger.dropped == {"reasoning_effort": 1}


@table(
    ("model", "config"),
    [(NEW, {"includeThoughts": True}), (OLD, {"thinkingBudget": -1, "includeThoughts": True})],
)
def test_an_effort_that_nobody_knows_is_left_to_the_model(model: str, config: dict[str, Any]) -> None:
    ledger = Ledger()
    assert config_of(reasoning=ReasoningWish("ultra"), model=model, ledger=ledger) == {
        "thinkingConfig": config
    }
    assert ledger.dropped == {"reasoning_effort": 1}


def test_the_profile_has_the_last_word_on_effort() -> None:
    config = config_of(reasoning=ReasoningWish("none"), on=google(effort_map={"none": "low"}))
    assert config["thinkingConfig"]["thinkingLevel"] == "LOW"


# ── the form of the answer ──


def test_a_schema_for_the_answer_is_enforced() -> None:
    """R05."""
    config = config_of(format=OutputFormat(FormatKind.JSON_SCHEMA, "a", SCHEMA), tools=[tool_spec()])
    assert config == {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    assert config_of(format=OutputFormat(FormatKind.JSON_OBJECT)) == {"responseMimeType": "application/json"}


def test_where_it_may_not_stand_beside_tools_it_becomes_an_instruction() -> None:
    """2.x answers 400."""
    wanted = OutputFormat(FormatKind.JSON_SCHEMA, "a", SCHEMA)
    body = body_of(format=wanted, tools=[tool_spec()], model=OLD)
    assert "generationConfig" not in body
    assert '"a":{"type":"integer"}' in body["systemInstruction"]["parts"][0]["text"]
    assert config_of(format=wanted, model=OLD)["responseJsonSchema"] == SCHEMA


def test_the_profiles_patch_comes_last() -> None:
    extra = {"safetySettings": [], "generationConfig": {"topK": 40, "temperature": None}}
    body = body_of(user("Hi"), sampling=Sampling(temperature=1, top_p=1), on=google(extra=extra))
    assert body["safetySettings"] == []
    assert body["generationConfig"] == {"topP": 1, "topK": 40}


@table(
    ("wanted", "sent", "dropped"),
    [
        (None, None, {}),
        ("auto", None, {}),
        ("default", "standard", {}),
        ("flex", "flex", {}),
        ("priority", "priority", {}),
        ("scale", None, {"service_tier": 1}),
    ],
)
def test_the_tier(wanted: str | None, sent: str | None, dropped: dict) -> None:
    ledger = Ledger()
    assert body_of(service_tier=wanted, ledger=ledger).get("serviceTier") == sent
    assert ledger.dropped == dropped


def test_a_tier_that_was_refused_is_sent_no_more() -> None:
    ledger = Ledger()
    body = body_of(service_tier="flex", on=google(tuning=frozenset()), ledger=ledger)
    assert ("serviceTier" in body, ledger.dropped) == (False, {"service_tier": 1})


def test_what_is_not_enforced_of_the_answer_is_told() -> None:
    ledger = Ledger()
    bounded = {"type": "object", "properties": {"x": {"type": "string", "maxLength": 3}}}
    config_of(format=OutputFormat(FormatKind.JSON_SCHEMA, "a", bounded), ledger=ledger)
    assert ledger.dropped == {"schema:maxLength": 1}
    assert "maxLength" in ledger.warnings[0]
