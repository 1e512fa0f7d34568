"""The stages that one reply goes through between the assembler and its client: only those that have something to do."""

from collections.abc import Callable, Collection, Mapping

from proxy.core.ledger import Ledger
from proxy.core.model import Request, ToolName, ToolSpec
from proxy.core.policy.awaited_checks import AwaitedChecks
from proxy.core.policy.guard import Check, guard, rules_for
from proxy.core.sink import Stage
from proxy.core.stream.empty_reply import fail_without_answer
from proxy.core.stream.stages.first_call import first_call
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from proxy.core.stream.stages.summary import as_summary
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import Tenant
from proxy.core.tools import arguments
from proxy.core.tools.arguments import Problem


def stages_for(
    request: Request,
    client: ClientProfile,
    surface: Surface,
    tenant: Tenant,
    extras: ReasoningExtras | None,
    ledger: Ledger,
    start_checks: Callable[[Mapping[ToolName, ToolSpec]], AwaitedChecks[Problem]],
    untold: Collection[ToolName] = (),
) -> list[Stage]:
    """The first of them nearest to the assembler. `start_checks`: asked for where calls of these tools are checked.
    `untold`: strict tools of which the backend was not told that they are."""
    stages: list[Stage] = [fail_without_answer] if client.answer_needed or request.compact else []
    if request.compact:
        return [*stages, as_summary]
    if request.tools and not request.parallel_calls:
        stages.append(first_call(ledger, extras.discard if extras else None))
    if extras:
        stages.append(extras.stage)
    rules = rules_for(
        request,
        tenant,
        strict=surface.strict,
        parses=surface.parses_arguments,
        check_of=_no_check_of,
        untold=untold,
    )
    if rules is None:
        return stages
    if checked := rules.checked:
        checks = start_checks(checked)
        rules.check_of = checks.check_of
        stages.append(checks.stage)
    return [*stages, guard(rules, ledger)]


def _no_check_of(spec: ToolSpec) -> Check | None:
    """Finds nothing wrong, but only where there might be something."""
    return _nothing if arguments.is_checked(spec) else None


def _nothing(said: str) -> None:
    pass
