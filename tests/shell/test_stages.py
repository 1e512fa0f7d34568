"""A stage costs something with every event, so there is none that has nothing to do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Request, ToolChoice, ToolName, ToolSpec
from proxy.core.policy.awaited_checks import AwaitedChecks
from proxy.core.sink import Stage
from proxy.core.stream.empty_reply import fail_without_answer
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from proxy.core.stream.stages.summary import as_summary
from proxy.core.surfaces.clients import CODEX, DEFAULT, EventStyle
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.surface import ResponsesOptions, ResponsesSurface
from proxy.core.tenants import ANYBODY
from proxy.core.tools import arguments
from proxy.core.tools.arguments import Problem
from proxy.shell.stages import stages_for
from tests.support.assembling import recorder
from tests.support.replies import counting_mint

SURFACE = ResponsesSurface(
    counting_mint(), lambda: 1.0, TokenSigner("secret"), ResponsesOptions(EventStyle.AUTO, False)
)
PLAIN = Request("m", [])
TOOLS = replace(PLAIN, tools=[ToolSpec(ToolName("f"))])
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)


def start_checks(declared: Mapping[ToolName, ToolSpec]) -> AwaitedChecks[Problem]:
    return AwaitedChecks(declared, arguments.is_checked, arguments.briefly, arguments.UNCHECKED)


def stages(request: Request, **how: Any) -> list[Stage]:
    given = {"client": DEFAULT, "surface": SURFACE, "tenant": ANYBODY, "extras": None}
    return stages_for(request, **given | how, ledger=Ledger(), start_checks=start_checks)


def test_text_alone_goes_through_none() -> None:
    assert stages(PLAIN) == []
    assert stages(replace(PLAIN, parallel_calls=False)) == []


def test_a_client_that_needs_an_answer_has_a_stage_that_sees_to_it() -> None:
    assert stages(PLAIN, client=CODEX) == [fail_without_answer]
    assert stages(replace(PLAIN, compact=True)) == [fail_without_answer, as_summary]


def test_what_only_passes_text_on_is_not_in_its_way() -> None:
    """The way of a token leads past all of them."""
    sink = recorder([])
    way = sink.delta
    extras = ReasoningExtras()
    for stage in stages(TOOLS, client=CODEX, extras=extras):
        sink = stage(sink)
    assert sink.delta is way


def test_v23_one_call_at_a_time_is_seen_to_before_all_else() -> None:
    extras = ReasoningExtras()
    required = replace(TOOLS, choice=REQUIRED)
    assert [stage == extras.stage for stage in stages(required, extras=extras)] == [True, False]
    one = replace(required, parallel_calls=False)
    assert [stage == extras.stage for stage in stages(one, extras=extras)] == [False, True, False]


def test_calls_are_checked_only_where_that_is_wanted() -> None:
    checked = replace(TOOLS, validate_arguments=True)
    assert [getattr(stage, "__name__", "") for stage in stages(checked)] == ["stage", "stage"]
    assert len(stages(replace(TOOLS, validate_arguments=False))) == 1
    untold = {ToolName("f")}
    assert len(stages(TOOLS)) == 1
    assert len(stages(TOOLS, untold=untold)) == 2
    assert len(stages(replace(TOOLS, validate_arguments=False), untold=untold)) == 1
