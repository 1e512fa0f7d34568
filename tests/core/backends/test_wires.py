"""In which of OpenAI's two languages a request is put: the one that is set, or by `auto` the one that it needs."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.backends.wires import hosted_tools, may_speak_responses, other, spoken
from proxy.core.model import Audio, Hosted, ReasoningWish, Request, ToolKind, ToolName, ToolSpec
from proxy.core.model import Role as R
from tests.support.tables import table

OPENAI = replace(PROFILES["openai"], thinks_beside_tools=False)
PLAIN = Request("m", [(R.USER, ["Hi"])])
CALLING = replace(PLAIN, tools=[ToolSpec(ToolName("f"))])
PATCHING = replace(PLAIN, tools=[ToolSpec(ToolName("apply_patch"), ToolKind.CUSTOM)])
NATIVE: dict[str, Any] = {"thinks_beside_tools": True, "native_tools": frozenset({"custom"})}
WAYS: dict[str, Any] = {"thinks_beside_tools": True, "ways_of_thinking": True}
PRO = replace(PLAIN, reasoning=ReasoningWish(ways={"mode": "pro"}))
SOUND = replace(CALLING, turns=[(R.USER, ["Hi", Audio("AA", "wav")])])


@table(
    ("changes", "request", "language"),
    [
        ({}, PLAIN, "chat"),
        ({}, CALLING, "responses"),
        ({}, SOUND, "chat"),  # Responses has no sound
        ({"thinks_beside_tools": True}, CALLING, "chat"),
        ({"thinks_beside_tools": True}, PATCHING, "chat"),
        (NATIVE, PATCHING, "responses"),
        (NATIVE, CALLING, "chat"),
        (NATIVE | {"offers_responses": False}, PATCHING, "chat"),
        ({"offers_responses": False}, CALLING, "chat"),
        (WAYS, PRO, "responses"),
        (WAYS, PLAIN, "chat"),
        (WAYS, replace(SOUND, reasoning=PRO.reasoning), "chat"),
        ({}, PRO, "chat"),
        ({"wire": "chat"}, CALLING, "chat"),
        ({"wire": "responses"}, PLAIN, "responses"),
        ({"wire": "responses", "offers_responses": False}, PLAIN, "responses"),
        ({"dialect": "anthropic", "wire": "responses"}, CALLING, "anthropic"),
    ],
)
def test_the_language_of_a_request(changes: dict[str, Any], request: Request, language: str) -> None:
    profile = replace(OPENAI, **changes)
    target = Target("b", "http://b.test/v1", profile)
    found = spoken(target, request)
    assert found == replace(profile, dialect=language)
    assert spoken(target, request) is found


@table(
    ("changes", "may"),
    [
        ({}, True),
        ({"thinks_beside_tools": True}, False),
        (NATIVE, True),
        (WAYS, True),
        (NATIVE | {"native_tools": frozenset({"namespace"})}, False),
        ({"offers_responses": False}, False),
        ({"wire": "responses", "offers_responses": False}, True),
        ({"wire": "chat"}, False),
        ({"dialect": "google", "wire": "responses"}, False),
    ],
)
def test_whether_any_request_may_be_in_responses(changes: dict[str, Any], may: bool) -> None:
    assert may_speak_responses(replace(OPENAI, **changes)) is may


def test_the_other_language() -> None:
    """What is set by hand has none."""
    for asked, wire in (("chat", "responses"), ("responses", "chat")):
        found = other(OPENAI, replace(OPENAI, dialect=asked))
        assert found == replace(OPENAI, wire=wire)
    assert other(replace(OPENAI, wire="responses"), replace(OPENAI, dialect="responses")) is None
    assert other(replace(OPENAI, dialect="google"), replace(OPENAI, dialect="google")) is None


SEARCH = {"type": "web_search"}


@table(
    ("changes", "tools", "language"),
    [
        ({}, [SEARCH], "responses"),
        ({}, [{"type": "hologram"}], "chat"),
        ({"hosted_tools": frozenset()}, [SEARCH], "chat"),
        ({"wire": "chat"}, [SEARCH], "chat"),
    ],
)
def test_tools_of_the_backend_are_run_by_responses_alone(
    changes: dict[str, Any], tools: list[dict[str, Any]], language: str
) -> None:
    target = Target("b", "http://b.test/v1", replace(PROFILES["openai"], **changes))
    assert spoken(target, replace(PLAIN, hosted=Hosted(tools))).dialect == language


def test_which_tools_a_backend_runs() -> None:
    openai = PROFILES["openai"]
    assert "mcp" in hosted_tools(openai)
    assert "mcp" in hosted_tools(replace(openai, wire="responses", offers_responses=False))
    for changes in ({"wire": "chat"}, {"offers_responses": False}, {"dialect": "google"}):
        assert hosted_tools(replace(openai, **changes)) == frozenset()
