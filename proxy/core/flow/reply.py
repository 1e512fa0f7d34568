"""The recipe of a reply: the only place that knows which stages it passes, and in which order.

    bytes → intake → decoder → think → markup → frames → assembler → argument_names → hosted_left_out
          → answer_needed → summary → first_call → reasoning_extras → answer_form → awaited_checks → guard
          → collector → encoder → frames

Of the stages between the assembler and the collector, a reply gets those that it needs.
"""

from dataclasses import dataclass
from functools import partial

from proxy.core.backends import wires
from proxy.core.dialects.registry import spoken_by
from proxy.core.flow.request import Asker, Preparation
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.model import ToolSpec
from proxy.core.policy.awaited_checks import AwaitedChecks
from proxy.core.policy.guard import Check, guard, rules_for
from proxy.core.profile import BackendProfile
from proxy.core.sink import Sink, Stage
from proxy.core.stream.empty_reply import fail_without_answer
from proxy.core.stream.observer import Observer
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.answer_form import answer_form
from proxy.core.stream.stages.argument_names import rename_arguments
from proxy.core.stream.stages.first_call import first_call
from proxy.core.stream.stages.hosted_left_out import leave_hosted_out
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from proxy.core.stream.stages.summary import as_summary
from proxy.core.tenants import Mode
from proxy.core.tools import answers, arguments


@dataclass(slots=True)
class ReplyFlow:
    """One attempt at a reply."""

    pipeline: Pipeline
    checks: AwaitedChecks | None
    """The checks of its calls' arguments, if there are any: the caller answers those that the pipeline waits for."""


def get_ready(profile: BackendProfile) -> None:
    """Makes what replies with calls are searched for, so that no request waits for it."""
    if profile.markup:
        registry.openers(profile.markup_formats, profile.markup_without)


def reply_flow(
    preparation: Preparation,
    asker: Asker,
    *,
    mint: Mint,
    stamp: str,
    ledger: Ledger,
    sink: Sink,
    observer: Observer | None = None,
) -> ReplyFlow:
    """`stamp`, the time of the request, makes ids for calls that the backend gives none."""
    profile, request, prepared = preparation.profile, preparation.request, preparation.prepared
    decoder_class = spoken_by(profile).decoder
    extras = ReasoningExtras() if decoder_class.wants_extras_back(profile) else None
    stages, checks = stages_for(preparation, asker, extras, ledger)
    pipeline = Pipeline(
        partial(
            decoder_class,
            profile=profile,
            ledger=ledger,
            keep_extras=extras.add if extras else None,
            model=preparation.maker,
            stamp=stamp,
        ),
        prepared.names,
        mint,
        ledger,
        sink,
        used_ids=request.call_ids,
        call_identity=profile.call_identity,
        own_call_ids=asker.surface.own_call_ids,
        thoughts_until=profile.thoughts_until,
        markup=registry.for_reply(
            prepared, on=profile.markup, also=profile.markup_formats, without=profile.markup_without
        ),
        stages=stages,
        observer=observer,
    )
    return ReplyFlow(pipeline, checks)


def stages_for(
    preparation: Preparation, asker: Asker, extras: ReasoningExtras | None, ledger: Ledger
) -> tuple[list[Stage], AwaitedChecks | None]:
    """Lists the stages, the first of them nearest to the assembler."""
    request = preparation.request
    stages: list[Stage] = []
    if preparation.prepared.aliases:
        stages.append(Stage("argument_names", rename_arguments(preparation.prepared.aliases)))
    if preparation.profile.dialect == wires.RESPONSES and not asker.surface.tells_hosted:
        stages.append(Stage("hosted_left_out", leave_hosted_out(ledger)))
    if asker.client.answer_needed or request.compact:
        stages.append(Stage("answer_needed", fail_without_answer))
    if request.compact:
        return [*stages, Stage("summary", as_summary)], None
    if request.tools and not request.parallel_calls:
        stages.append(Stage("first_call", first_call(ledger, extras.discard if extras else None)))
    if extras:
        stages.append(Stage("reasoning_extras", extras.stage))
    validates = asker.tenant.validate_answers
    if preparation.prepared.format_unproven and validates is not Mode.OFF:
        find_problem = partial(answers.problem_of, request.format)
        enforced, on_breach = validates is Mode.ENFORCE, preparation.prepared.note_unfit
        stage = answer_form(find_problem, ledger, enforced=enforced, on_breach=on_breach)
        stages.append(Stage("answer_form", stage))
    rules = rules_for(
        request,
        asker.tenant,
        strict=asker.surface.strict,
        parses=asker.surface.parses_arguments,
        check_of=_no_check_of,
        untold=preparation.prepared.untold,
    )
    if rules is None:
        return stages, None
    checks: AwaitedChecks | None = None
    if checked := rules.checked:
        checks = AwaitedChecks(checked, arguments.is_checked, arguments.briefly)
        rules.check_of = checks.check_of
        stages.append(Stage("awaited_checks", checks.stage))
    return [*stages, Stage("guard", guard(rules, ledger))], checks


def _no_check_of(spec: ToolSpec) -> Check | None:
    """Returns a check that finds nothing wrong, where there is anything to check."""
    return _nothing if arguments.is_checked(spec) else None


def _nothing(_: str) -> None:
    pass
