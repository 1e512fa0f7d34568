"""The wish for more or less thinking in the form that each model takes, and the limit it shares."""

from typing import Any

from proxy.core.dialects.anthropic.models import traits_of
from proxy.core.dialects.anthropic.thinking import ThinkingPlan, plan
from proxy.core.dialects.writing.notes import ALWAYS_THINKS
from proxy.core.ledger import Ledger
from proxy.core.model import ReasoningWish, Request, Sampling
from tests.support.anthropic_requests import on
from tests.support.tables import table

SUMMARIZED = {"type": "adaptive", "display": "summarized"}
DISABLED = {"type": "disabled"}


def planned(
    model: str,
    effort: str | None = None,
    limit: int | None = None,
    *,
    ledger: Ledger | None = None,
    unproven: bool = False,
    **changes: Any,
) -> ThinkingPlan:
    request = Request("m", [], reasoning=ReasoningWish(effort), sampling=Sampling(max_tokens=limit))
    return plan(request, on(**changes), traits_of(model), ledger or Ledger(), unproven=unproven)


def budget(tokens: int) -> dict[str, Any]:
    return {"type": "enabled", "budget_tokens": tokens}


@table(
    ("model", "effort", "thinking", "word"),
    [
        ("claude-opus-5-5", None, SUMMARIZED, None),
        ("claude-opus-5-5", "minimal", SUMMARIZED, "low"),
        ("claude-opus-5-5", "low", SUMMARIZED, "low"),
        ("claude-opus-5-5", "medium", SUMMARIZED, "medium"),
        ("claude-opus-5-5", "xhigh", SUMMARIZED, "xhigh"),
        ("claude-opus-5-5", "max", SUMMARIZED, "max"),
        ("claude-sonnet-5-5", "none", {"type": "between_tools"}, None),
        ("claude-haiku-5-5", "none", DISABLED, None),
        ("claude-opus-4-8", None, None, None),
        ("claude-opus-4-8", "none", None, None),
        ("claude-opus-4-8", "high", SUMMARIZED, "high"),
        ("claude-opus-4-6", "xhigh", SUMMARIZED, "high"),
        ("claude-opus-4-6", "max", SUMMARIZED, "max"),
        ("claude-opus-4-5", None, None, None),
        ("claude-opus-4-5", "max", budget(32768), "high"),
        ("claude-sonnet-4-5", "minimal", budget(2048), None),
        ("claude-sonnet-4-5", "low", budget(2048), None),
        ("claude-sonnet-4-5", "medium", budget(8192), None),
        ("claude-sonnet-4-5", "high", budget(16384), None),
        ("claude-sonnet-4-5", "xhigh", budget(32768), None),
        ("claude-sonnet-4-5", "none", None, None),
        ("kimi-k2", None, None, None),
    ],
)
def test_effort(model: str, effort: str | None, thinking: object, word: str | None) -> None:
    ledger = Ledger()
    made = planned(model, effort, ledger=ledger)
    assert (made.thinking, made.effort) == (thinking, word)
    assert not ledger.dropped


def test_what_always_thinks_thinks_as_little_as_it_can_and_says_so() -> None:
    ledger = Ledger()
    assert planned("claude-opus-5-5", "none", ledger=ledger)[:2] == (None, "low")
    assert ledger.warnings == [ALWAYS_THINKS]
    assert ledger.dropped == {"reasoning_effort": 1}


@table(
    ("model", "effort", "changes"),
    [
        ("kimi-k2", "high", {}),
        ("claude-3-haiku", "high", {}),
        ("claude-opus-5-5", "ultra", {"effort_map": {}}),
        ("claude-opus-4-8", "high", {"effort_field": "none"}),
        ("claude-opus-4-8", "high", {"effort_map": {"high": None}}),
    ],
)
def test_a_wish_that_cannot_be_heeded_is_counted(model: str, effort: str, changes: dict) -> None:
    ledger = Ledger()
    assert planned(model, effort, ledger=ledger, **changes).effort is None
    assert ledger.dropped == {"reasoning_effort": 1}


def test_a_profile_may_map_words() -> None:
    assert planned("claude-opus-5-5", "high", effort_map={"high": "max"}).effort == "max"


def test_a_model_that_refused_the_field_gets_it_no_more() -> None:
    assert planned("claude-opus-5-5", effort_field="none").thinking is None


@table(
    ("model", "effort", "limit", "changes", "expected", "thinking"),
    [
        ("claude-opus-5-5", None, None, {}, 128_000, SUMMARIZED),
        ("claude-opus-5-5", None, 50, {}, 50, SUMMARIZED),
        ("kimi-k2", None, None, {}, 4_096, None),
        ("kimi-k2", None, None, {"length_default": 20_000}, 20_000, None),
        ("claude-sonnet-4-5", "low", 100, {}, 2_148, budget(2048)),
        ("claude-sonnet-4-5", "max", 60_000, {}, 64_000, budget(32768)),
        ("claude-sonnet-4-5", "max", None, {}, 64_000, budget(32768)),
        ("claude-opus-4-1", "max", 10, {}, 32_000, budget(31_990)),
        ("claude-opus-4-1", "max", 5_000, {}, 32_000, budget(27_904)),
        ("claude-opus-4-1", "max", 40_000, {}, 32_000, budget(27_904)),
        ("claude-opus-4-1", "max", None, {}, 32_000, budget(27_904)),
        ("claude-sonnet-4-5", "high", None, {"length_default": 8_192}, 8_192, budget(4_096)),
        ("claude-sonnet-4-5", "high", None, {"length_default": 2_000}, 2_000, budget(1024)),
    ],
)
def test_the_limit_is_always_set_and_leaves_room_for_thoughts(
    model: str, effort: str | None, limit: int | None, changes: dict, expected: int, thinking: object
) -> None:
    """The budget is part of `max_tokens`: the answer keeps what the client asked for, as far as the model goes."""
    made = planned(model, effort, limit, **changes)
    assert (made.max_tokens, made.thinking) == (expected, thinking)


def test_where_there_is_no_room_for_the_least_budget_it_does_not_think() -> None:
    ledger = Ledger()
    made = planned("claude-sonnet-4-5", "high", ledger=ledger, length_default=1024)
    assert made == ThinkingPlan(None, None, 1024)
    assert ledger.dropped == {"reasoning_effort": 1}


@table(
    ("model", "thinking"),
    [("claude-sonnet-4-5", DISABLED), ("claude-opus-4-6", SUMMARIZED), ("claude-opus-5-5", SUMMARIZED)],
)
def test_calls_that_lost_their_thoughts_cannot_go_on_thinking_by_a_budget(
    model: str, thinking: object
) -> None:
    """The API says: "Expected `thinking` or `redacted_thinking`, but found `tool_use`"."""
    assert planned(model, "high", unproven=True).thinking == thinking


@table(
    ("model", "effort", "thinks", "budgeted"),
    [
        ("claude-opus-5-5", None, True, False),
        ("claude-sonnet-4-5", "low", True, True),
        ("claude-sonnet-4-5", None, False, False),
        ("claude-haiku-5-5", "none", False, False),
    ],
)
def test_whether_it_thinks(model: str, effort: str | None, thinks: bool, budgeted: bool) -> None:
    made = planned(model, effort)
    assert (made.on, made.budgeted) == (thinks, budgeted)
