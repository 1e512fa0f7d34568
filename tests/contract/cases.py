"""The contract, in no API's words: what a client asks, what the model says, and what both must then have heard (P11).

A case is a conversation of a few rounds. Whatever surface asks and whatever backend answers, its meaning is the
one that stands here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.scripted.say import Say, SayCall

PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SOUND = "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IBAAAAA="
DOCUMENT = "data:application/pdf;base64,JVBERi0xLjQKJSVFT0YK"

PROOF = "c2lnbmF0dXJlIG9mIHRoZSBtb2RlbA=="
OTHER_PROOF = "YW5vdGhlciBvbmU="
"""What models put beside their thoughts, and want back."""


@dataclass(frozen=True)
class Tool:
    name: str
    description: str | None
    parameters: Mapping[str, Any]
    strict: bool = False


WEATHER = Tool(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CLOCK = Tool("get_time", "The time of day.", {"type": "object", "properties": {}})
STRICT = replace(WEATHER, parameters={**WEATHER.parameters, "additionalProperties": False}, strict=True)
UNDESCRIBED = replace(WEATHER, description=None)
LONG = replace(WEATHER, description="The weather. " * 100)
INEXPRESSIBLE = Tool(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"not": {"const": "Oslo"}}}},
)
"""No words of some providers' schemas come to this."""
ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Ask:
    text: str = "How is the weather in Oslo?"
    system: str | None = None
    attached: str | None = None
    """A data URL, after the text."""
    tools: tuple[Tool, ...] = ()
    choice: str | None = None
    """`required`, `none`, or the name of the one tool to call."""
    effort: str | None = None
    schema: Mapping[str, Any] | None = None
    """Of the JSON that the answer shall be."""
    limit: int | None = None
    validate: bool = False
    """Shall calls that break their tool's schema be kept from the client?"""


TOKENS = Say().usage


@dataclass(frozen=True)
class Outcome:
    """What the client has heard."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    """Names with parsed arguments."""
    ending: Literal["completed", "length", "filter", "error"] = "completed"
    error: str | None = None
    """Its code."""
    tokens: tuple[int, int] | None = TOKENS
    """In and out; what an error has cost is nowhere told."""

    def whole(self) -> "Outcome":
        """To a client that does not stream: an error stands for all that was said before it."""
        return failed(self.error) if self.ending == "error" else self


def failed(code: str | None, text: str = "") -> Outcome:
    return Outcome(text, ending="error", error=code, tokens=None)


@dataclass(frozen=True)
class Received:
    """What the backend was asked, as far as a case cares."""

    texts: tuple[str, ...]
    """What the user says, all of it."""
    system: str | None = None
    attached: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    choice: str = "auto"
    calls: tuple[tuple[str, Any], ...] = ()
    """Of the history, with parsed arguments."""
    results: tuple[tuple[str, str], ...] = ()
    """The name of the call that each belongs to by id, and its text."""
    failed: tuple[str, ...] = ()
    """The names of those whose results are told as errors, where the provider has a word for it."""
    proofs: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    limit: int | None = None


@dataclass(frozen=True)
class Round:
    says: Say
    outcome: Outcome
    received: Received
    results: Mapping[str, str] = field(default_factory=dict)
    """By tool: what the client's tools return to the calls of this round."""


@dataclass(frozen=True)
class Case:
    name: str
    ask: Ask
    rounds: tuple[Round, ...]


def _case(name: str, ask: Ask, says: Say, outcome: Outcome | None = None) -> Case:
    """Of one round."""
    return Case(name, ask, (Round(says, outcome or _said(says), _asked(ask)),))


def _said(says: Say) -> Outcome:
    """All is heard as it was said."""
    calls = tuple((call.name, call.arguments) for call in says.calls)
    return Outcome(says.text, says.thinking, says.refusal, calls, tokens=says.usage)


def _asked(ask: Ask) -> Received:
    return Received(
        texts=(ask.text,),
        system=ask.system,
        attached=(ask.attached,) if ask.attached else (),
        tools=tuple(tool.name for tool in ask.tools),
        choice=ask.choice or "auto",
        schema=ask.schema,
        limit=ask.limit,
    )


def _loop(name: str, ask: Ask, results: Mapping[str, str], *says: Say) -> Case:
    """The model calls, the client's tools answer, and so on until it only speaks."""
    rounds: list[Round] = []
    received = _asked(ask)
    for say in says:
        outcome = _said(say)
        rounds.append(Round(say, outcome, received, results))
        received = replace(
            received,
            calls=received.calls + outcome.calls,
            results=received.results + tuple((tool, results[tool]) for tool, _ in outcome.calls),
            proofs=received.proofs + ((say.signature,) if say.signature else ()),
        )
    return Case(name, ask, tuple(rounds))


OSLO = SayCall("call_a1", "get_weather", {"city": "Oslo", "why": 'quotes " and ünïcode'})
BERGEN = SayCall("call_b2", "get_weather", {"city": "Bergen"})
NOW = SayCall("call_c3", "get_time", {})
WRONG = SayCall("call_d4", "get_weather", {"city": 5})
TOOLS = Ask(tools=(WEATHER, CLOCK))
RESULTS = {"get_weather": '{"degrees":-4}', "get_time": "noon"}

CASES = {
    case.name: case
    for case in (
        _case("text", Ask(system="Be brief."), Say(text="Cold, with snow. ❄")),
        _case("one_call", TOOLS, Say(text="Let me look.", calls=[OSLO])),
        _loop(
            "parallel_calls",
            TOOLS,
            RESULTS,
            Say(calls=[OSLO, NOW]),
            Say(text="It is noon, and cold."),
        ),
        _loop(
            "two_turn_loop",
            TOOLS,
            RESULTS,
            Say(text="Let me look.", calls=[OSLO]),
            Say(text="-4 degrees."),
        ),
        _case("forced_choice", replace(TOOLS, choice="get_weather"), Say(calls=[BERGEN])),
        _case("required_choice", replace(TOOLS, choice="required"), Say(calls=[NOW])),
        _case("none_choice", replace(TOOLS, choice="none"), Say(text="I cannot look.")),
        _case(
            "required_unmet",
            replace(TOOLS, choice="required"),
            Say(text="Cold, I guess."),
            failed("tool_call_required", "Cold, I guess."),
        ),
        _case(
            "another_choice",
            replace(TOOLS, choice="get_weather"),
            Say(calls=[NOW]),
            failed("tool_call_required"),
        ),
        _case(
            "invalid_arguments",
            replace(TOOLS, validate=True),
            Say(calls=[WRONG]),
            failed("invalid_tool_arguments"),
        ),
        _case("unchecked_arguments", TOOLS, Say(calls=[WRONG])),
        _case(
            "markup",
            TOOLS,
            Say(
                text='I see.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Bergen"}}</tool_call>'
            ),
            Outcome("I see.\n", calls=(("get_weather", {"city": "Bergen"}),)),
        ),
        _case("strict_tool", Ask(tools=(STRICT,)), Say(calls=[BERGEN])),
        _case("undescribed_tool", Ask(tools=(UNDESCRIBED,)), Say(calls=[BERGEN])),
        _case("long_description", Ask(tools=(LONG,)), Say(calls=[BERGEN])),
        _case("inexpressible_schema", Ask(tools=(INEXPRESSIBLE,)), Say(text="It is cold.")),
        _case(
            "unknown_tool",
            replace(TOOLS, validate=True),
            Say(calls=[SayCall("call_e5", "launch", {})]),
            failed("unknown_tool_call"),
        ),
        _case("image", Ask("What is this?", attached=PIXEL), Say(text="A pixel.")),
        _case("document", Ask("Sum this up.", attached=DOCUMENT), Say(text="It is empty.")),
        _case("audio", Ask("What do you hear?", attached=SOUND), Say(text="Nothing.")),
        _loop(
            "reasoning",
            replace(TOOLS, effort="high"),
            RESULTS,
            Say(thinking="Oslo is in Norway.", signature=PROOF, calls=[OSLO]),
            Say(text="-4 degrees."),
        ),
        _loop(
            "long_reasoning",
            replace(TOOLS, effort="high"),
            RESULTS,
            Say(thinking="Oslo is in Norway.", signature=PROOF, calls=[OSLO]),
            Say(thinking="So is Bergen.", signature=OTHER_PROOF, text="On.", calls=[BERGEN, NOW]),
            Say(text="-4 degrees."),
        ),
        _case("structured_output", Ask(schema=ANSWER_SCHEMA), Say(text='{"city":"Oslo","degrees":-4}')),
        _case(
            "length",
            Ask(limit=64),
            Say(text="It is c", finish="length"),
            Outcome(text="It is c", ending="length"),
        ),
        _case(
            "refusal",
            Ask(),
            Say(finish="refusal", refusal="I would rather not.", usage=(9, 0)),
            Outcome(refusal="I would rather not.", ending="filter", tokens=(9, 0)),
        ),
        _case(
            "safety_block",
            Ask(),
            Say(text="It is", finish="filter"),
            Outcome(text="It is", ending="filter"),
        ),
        _case("empty_reply", Ask(), Say(usage=(9, 0)), failed("upstream_empty_reply")),
        _case("rate_limited", Ask(), Say(status=429, refusal="Slow down."), failed("rate_limit_exceeded")),
        _case(
            "error_midstream",
            Ask(),
            Say(text="It is", error_midway="The model has crashed."),
            failed("upstream_error", "It is"),
        ),
        _case(
            "cut_stream",
            Ask(),
            Say(text="It is", cut=True),
            failed("upstream_stream_truncated", "It is"),
        ),
    )
}
