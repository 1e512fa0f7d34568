"""Makes of a client's request what one model of one backend is asked."""

from dataclasses import dataclass

from proxy.core.backends import wires
from proxy.core.backends.counter import TokenCounter
from proxy.core.backends.post import Post, post
from proxy.core.backends.target import Target, deployment
from proxy.core.dialects.registry import counting, spoken_by
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.policy.admission import admit
from proxy.core.policy.tool_results import truncated
from proxy.core.profile import BackendProfile
from proxy.core.surfaces.clients import ClientProfile
from proxy.core.surfaces.memory.call_ids import as_backend_knows
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import Tenant
from proxy.core.tools.prepare import Prepared, prepare


@dataclass(slots=True)
class Asker:
    """The surface, the client and the tenant of a request."""

    surface: Surface
    client: ClientProfile
    tenant: Tenant

    def has_rules_for(self, request: Request) -> bool:
        """Can the tenant's rules change or refuse anything in this request?"""
        return (
            bool(request.tools) or request.hosted is not None or self.tenant.tool_result_max_bytes is not None
        )


@dataclass(slots=True)
class Preparation:
    """One request in the form for one model."""

    request: Request
    target: Target
    model: str
    profile: BackendProfile
    prepared: Prepared
    post: Post
    url: str
    """Where this model is asked in the target's own language."""
    counter: TokenCounter | None = None
    """Asks how many tokens the request has. None: the request itself is asked."""

    @property
    def maker(self) -> str:
        """Names the maker of what the model will want back of its reply."""
        return maker_of(self.profile, self.target, self.model)


def admitted(request: Request, asker: Asker, ledger: Ledger) -> Request:
    """Returns the request as the tenant's rules allow it. Raises the fault that refuses it."""
    admit(request, asker.tenant, strict=asker.surface.strict, ledger=ledger)
    return truncated(request, asker.tenant.tool_result_max_bytes, ledger)


def completed(request: Request, asker: Asker, reasoning: ReasoningMemory, model: str) -> Request:
    """Returns the request with what the proxy remembers and its client could not send: reasoning, the backend's call
    ids. `model`: its real name, for which clients may have another."""
    request = reasoning.restored_into(memory_name(asker.tenant, model), request)
    return as_backend_knows(request) if asker.surface.own_call_ids else request


def maker_of(profile: BackendProfile, target: Target, model: str) -> str:
    """What is sealed by Responses can be opened by the same account only: there the backend belongs to the name."""
    return f"{target.name}/{model}" if profile.dialect == wires.RESPONSES else model


def memory_name(tenant: Tenant, model: str) -> str:
    """Returns the name under which reasoning is remembered: thoughts return only to the tenant and model that they came
    from."""
    return f"{tenant.name} {model}"


def prepared_for(
    request: Request,
    target: Target,
    model: str,
    url: str,
    ledger: Ledger,
    counter: TokenCounter | None = None,
) -> Preparation:
    """Prepares the request, or the question how many tokens it has. The table of names in it depends on the request
    alone, so it stays right if a lesson changes the profile."""
    profile = counting(target.profile) if counter else wires.spoken(target, request)
    own_url = url if counter or profile is target.profile else spoken_by(profile).reply_url(target, model)
    prepared = prepare(request, profile, ledger)
    maker = maker_of(profile, target, model)
    body = spoken_by(profile).encode(request, prepared, profile, maker, ledger)
    if profile.dialect == wires.RESPONSES:
        body["model"] = deployment(target) or model
    question = counter.body(body, model) if counter else body
    asked = post(target, own_url, question)
    return Preparation(request, target, model, profile, prepared, asked, url, counter)
