"""A stage costs something with every event, so there is none that has nothing to do."""

from dataclasses import replace
from types import NoneType
from typing import Any

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.errors import Unfit
from proxy.core.flow import reply
from proxy.core.flow.reply import get_ready, reply_flow, stages_for
from proxy.core.flow.request import Asker, Preparation, prepared_for
from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.model import (
    CUSTOM,
    FUNCTION,
    ChoiceMode,
    FormatKind,
    OutputFormat,
    Request,
    ToolChoice,
    ToolName,
    ToolSpec,
)
from proxy.core.profile import DEFAULT, BackendProfile
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from proxy.core.surfaces import clients
from proxy.core.surfaces.clients import CODEX, ClientProfile
from proxy.core.surfaces.memory.call_ids import CallMaps
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native.surface import NativeSurface
from proxy.core.tenants import ANYBODY, Mode, Tenant
from tests.support.assembling import Told, recorder
from tests.support.observers import Seen
from tests.support.replies import DONE, NOW, RESPONSES, STOP, call_chunk, chunk, counting_mint

KEEPS_NOTHING, KEEPS = replace(DEFAULT, replay_by_evidence=False), PROFILES["openrouter"]

NOBODY = clients.DEFAULT
PLAIN = Request("m", [])
TOOLS = replace(PLAIN, tools=[ToolSpec(ToolName("f"))])
REQUIRED = ToolChoice(ChoiceMode.REQUIRED)


def preparation(request: Request, profile: BackendProfile) -> Preparation:
    target = Target("b", "http://b.test", profile)
    return prepared_for(request, target, "m", "http://b.test/v1/chat/completions", Ledger())


def made(
    request: Request,
    client: ClientProfile = NOBODY,
    profile: BackendProfile = KEEPS_NOTHING,
    tenant: Tenant = ANYBODY,
    **how: Any,
) -> Pipeline:
    asker = Asker(RESPONSES, client, tenant)
    how = {"mint": counting_mint(), "stamp": "", "ledger": Ledger(), "sink": recorder([])} | how
    return reply_flow(preparation(request, profile), asker, **how).pipeline


def stages(request: Request, **how: Any) -> list[str]:
    """Those between the assembler and the collector."""
    names = made(request, **how).stages
    return names[names.index("assembler") + 1 : -1]


def test_text_alone_goes_through_none() -> None:
    assert stages(PLAIN) == []
    assert stages(replace(PLAIN, parallel_calls=False)) == []
    assert made(PLAIN).stages == ["intake", "decoder", "think", "frames", "assembler", "collector"]


def test_where_a_tool_may_be_called_the_text_is_searched_for_calls() -> None:
    assert made(TOOLS).stages[:4] == ["intake", "decoder", "think", "markup"]


def test_a_client_that_needs_an_answer_has_a_stage_that_sees_to_it() -> None:
    assert stages(PLAIN, client=CODEX) == ["answer_needed"]
    assert stages(replace(PLAIN, compact=True)) == ["answer_needed", "summary"]


def test_an_answer_is_held_against_a_form_that_was_only_told_in_words() -> None:
    formed = replace(PLAIN, format=OutputFormat(FormatKind.JSON_OBJECT))
    in_words = replace(KEEPS_NOTHING, formats=frozenset())
    assert stages(formed) == []
    assert stages(formed, profile=in_words) == ["answer_form"]
    assert stages(replace(formed, tools=TOOLS.tools)) == ["answer_form", "guard"], "nobody knows"
    assert stages(formed, profile=in_words, tenant=replace(ANYBODY, validate_answers=Mode.OFF)) == []


@pytest.mark.parametrize(("said", "unfit"), [("{}", False), ("No.", True)])
def test_that_an_answer_has_another_form_is_known_beside_the_reply(said: str, unfit: bool) -> None:
    asked = preparation(
        replace(PLAIN, format=OutputFormat(FormatKind.JSON_OBJECT)), replace(DEFAULT, formats=frozenset())
    )
    flow = reply_flow(
        asked,
        Asker(RESPONSES, NOBODY, ANYBODY),
        mint=counting_mint(),
        stamp="",
        ledger=Ledger(),
        sink=recorder([]),
    )
    for data in (chunk({"content": said}), STOP, DONE):
        flow.pipeline.feed(data)
    assert asked.prepared.answer_unfit is unfit


def test_properties_get_their_own_names_back_where_the_backend_was_told_others() -> None:
    odata = ToolSpec(
        ToolName("f"), parameters={"type": "object", "properties": {"$top": {"type": "integer"}}}
    )
    request = replace(TOOLS, tools=[odata])
    assert stages(request, profile=PROFILES["anthropic"])[0] == "argument_names"
    assert "argument_names" not in stages(TOOLS, profile=PROFILES["anthropic"])


def test_what_only_passes_text_on_is_not_in_its_way() -> None:
    """The way of a token leads past all of them."""
    outlet = recorder([])
    way = outlet.delta
    stages, checks = stages_for(
        preparation(TOOLS, KEEPS), Asker(RESPONSES, CODEX, ANYBODY), ReasoningExtras(), Ledger()
    )
    assert [stage.name for stage in stages] == ["answer_needed", "reasoning_extras", "guard"]
    assert checks is None
    for stage in reversed(stages):
        outlet = stage.attach(outlet)
    assert outlet.delta is way


def test_what_a_provider_does_is_left_out_for_surfaces_without_a_form_for_it() -> None:
    there = replace(KEEPS, dialect="responses")
    native = NativeSurface(counting_mint(), lambda: NOW, CallMaps(TokenSigner("secret")))
    for surface, left_out in ((RESPONSES, False), (native, True)):
        found, _ = stages_for(preparation(TOOLS, there), Asker(surface, CODEX, ANYBODY), None, Ledger())
        assert (found[0].name == "hosted_left_out") is left_out


def test_v23_one_call_at_a_time_is_seen_to_before_all_else() -> None:
    required = replace(TOOLS, choice=REQUIRED)
    assert stages(required, profile=KEEPS) == ["reasoning_extras", "guard"]
    one = replace(required, parallel_calls=False)
    assert stages(one, profile=KEEPS) == ["first_call", "reasoning_extras", "guard"]


def test_calls_are_checked_only_where_that_is_wanted() -> None:
    assert stages(replace(TOOLS, validate_arguments=True)) == ["awaited_checks", "guard"]
    assert stages(replace(TOOLS, validate_arguments=False)) == ["guard"]
    assert stages(TOOLS) == ["guard"]
    untold = replace(TOOLS, tools=[ToolSpec(ToolName("f"), strict=True)])
    assert stages(untold) == ["awaited_checks", "guard"]
    assert stages(replace(untold, validate_arguments=False)) == ["guard"]


@pytest.mark.parametrize(("arguments", "fits"), [("{}", True), ("[]", False)])
def test_where_arguments_are_not_checked_a_surface_may_still_want_an_object(
    arguments: str, fits: bool
) -> None:
    native = NativeSurface(counting_mint(), lambda: NOW, CallMaps(TokenSigner("secret")))
    prepared = preparation(replace(TOOLS, validate_arguments=False), KEEPS_NOTHING)
    asker, sink = Asker(native, NOBODY, ANYBODY), recorder([])
    flow = reply_flow(prepared, asker, mint=counting_mint(), stamp="", ledger=Ledger(), sink=sink)
    assert flow.checks is None
    flow.pipeline.feed(call_chunk(0, "a", "f", arguments) + STOP + DONE)
    assert isinstance(flow.pipeline.fault, NoneType if fits else Unfit)


def test_an_observer_is_shown_each_seam_and_changes_nothing() -> None:
    seen = Seen()
    told: list[Told] = []
    alone: list[Told] = []
    pipeline = made(TOOLS, sink=recorder(told), observer=seen)
    unseen = made(TOOLS, sink=recorder(alone))
    pieces = [
        chunk({"content": "Hi"}),
        chunk({"content": " you"}),
        call_chunk(0, "a", "f", "{}") + STOP,
        DONE,
    ]
    for each in (pipeline, unseen):
        for piece in pieces:
            each.feed(piece)
        each.close()
    assert seen.bytes == pieces
    kinds = [type(delta).__name__ for delta in seen.deltas]
    assert kinds == ["TextDelta", "TextDelta", "CallDelta", "FinishDelta", "EndDelta"]
    assert seen.events == told == alone
    assert pipeline.reply == unseen.reply


def test_where_no_arguments_are_checked_free_text_still_differs_from_an_object() -> None:
    """The native surface asks which of the two a call's input is, whether its arguments are checked or not."""
    text, function = (reply._no_check_of(ToolSpec(ToolName("f"), kind)) for kind in (CUSTOM, FUNCTION))
    assert text is None
    assert function is not None
    assert function('{"a":') is None


def test_what_replies_are_searched_for_is_made_once_and_not_where_nothing_is() -> None:
    registry.openers.cache_clear()
    get_ready(replace(DEFAULT, markup=False))
    assert registry.openers.cache_info().misses == 0
    for _ in range(2):
        get_ready(replace(DEFAULT, markup_without=frozenset({"invoke"})))
    assert registry.openers.cache_info().misses == 1
