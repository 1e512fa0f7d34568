"""The stages that one reply goes through between the assembler and its client: only those that have something to do."""

from proxy.core.inbound.clients import ClientProfile
from proxy.core.inbound.surface import Surface
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.outlet import Stage
from proxy.core.policy.guard import guard, rules_for
from proxy.core.stream.condense import condensed
from proxy.core.stream.first_call import first_call
from proxy.core.stream.keepsakes import Keepsakes
from proxy.core.stream.verdict import answer_needed
from proxy.core.tenants import Tenant
from proxy.core.tools import arguments


def stages_for(
    request: Request,
    client: ClientProfile,
    surface: Surface,
    tenant: Tenant,
    keepsakes: Keepsakes | None,
    ledger: Ledger,
) -> list[Stage]:
    """The first of them nearest to the assembler."""
    stages: list[Stage] = [answer_needed] if client.answer_needed or request.compact else []
    if request.compact:
        return [*stages, condensed]
    if request.tools and not request.parallel_calls:
        stages.append(first_call(ledger, keepsakes.forget if keepsakes else None))
    if keepsakes:
        stages.append(keepsakes.added)
    rules = rules_for(
        request,
        tenant,
        strict=surface.strict,
        parses=surface.parses_arguments,
        check_of=arguments.check_of,
    )
    return [*stages, guard(rules, ledger)] if rules else stages
