"""A request in the words of the Messages API, as one model takes them.

The body is built field by field from what is known to be wanted and understood; what the model has no field for is left
out and counted. The same request makes the same bytes, and a longer conversation begins with those of the shorter.
"""

from functools import partial

from proxy.core.dialects.anthropic import content, messages, models, thinking
from proxy.core.dialects.anthropic.models import Traits
from proxy.core.dialects.anthropic.tools import offer
from proxy.core.dialects.writing import answer_format
from proxy.core.dialects.writing.body import Body, granted, leave_out_ways, patched, tuning_wishes
from proxy.core.errors import Incompatible
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import Prepared

VERSION = "anthropic-version"
WITHOUT_SAMPLING = "2026-10-21"
"""From this version of the API on, it refuses temperature and top_p for every model."""

MAX_TEMPERATURE = 1.0

TIERS = ("auto", "default")
"""The client's words that the API has a word for."""
MAX_USER = 256
"""Characters of an id. The API refuses a longer one, and one that looks like an address too."""


def encode(request: Request, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger) -> Body:
    traits = models.traits_of(model)
    conversation = messages.converse(request, prepared, profile, traits, model, ledger)
    leave_out_ways(request, ledger)
    plan = thinking.plan(request, profile, traits, ledger, unproven=conversation.unproven)
    offered = offer(
        request,
        prepared,
        profile,
        traits,
        ledger,
        budgeted=plan.budgeted,
        tells_calls=conversation.tells_calls,
    )
    if offered.urge:
        conversation = messages.urged(conversation, offered.urge, profile, traits)
    form, instruction = _form(request, profile, traits, ledger, with_tools=bool(offered.tools))
    prepared.format_unproven = instruction is not None
    system = conversation.system + ([content.text(instruction)] if instruction else [])
    output = {"effort": plan.effort, "format": form}
    body: Body = {
        "model": model,
        "max_tokens": plan.max_tokens,
        "system": system,
        "messages": conversation.messages,
        "tools": offered.tools,
        "tool_choice": offered.choice,
        "thinking": plan.thinking,
        "output_config": {name: value for name, value in output.items() if value},
        **_tuning(request, profile, traits, ledger, thinks=plan.on),
        **_asker(request, profile, ledger),
    }
    body = {name: value for name, value in body.items() if value or value == 0} | {"stream": True}
    return patched(body, profile.extra, ledger)


def _form(
    request: Request, profile: BackendProfile, traits: Traits, ledger: Ledger, *, with_tools: bool
) -> tuple[Body | None, str | None]:
    """Writes the form of the answer as a schema to be enforced, or in words.

    A schema that cannot be enforced is an error only for a client that insists on it.
    """
    enforced = profile.formats & {"json_schema"} if traits.formats else ()
    plan = partial(answer_format.plan, request.format, profile, ledger.work, with_tools=with_tools)
    try:
        form = plan(formats=enforced)
    except Incompatible:
        if request.format.strict:
            raise
        ledger.drop("format_enforcement")
        form = plan(formats=())
    form.remark(ledger)
    if form.response_format is None:
        return None, form.instruction
    return {"type": "json_schema", "schema": form.response_format["json_schema"]["schema"]}, None


def _tuning(
    request: Request, profile: BackendProfile, traits: Traits, ledger: Ledger, *, thinks: bool
) -> Body:
    wishes = tuning_wishes(request)
    if not wishes:
        return {}
    sampling = request.sampling
    stops = [word for word in sampling.stop or () if word.strip()]
    if len(stops) < len(sampling.stop or ()):  # blank ones are refused
        ledger.drop("stop")
    wishes |= {"stop": stops or None, "logprobs": sampling.logprobs or None}
    known = profile.tuning & {"stop"}
    if traits.samples and not thinks and not _is_without_sampling(profile):
        known |= profile.tuning & {"temperature", "top_p"}
    if sampling.temperature is not None:
        wishes["temperature"] = min(sampling.temperature, MAX_TEMPERATURE)
        if "temperature" in known:
            known -= {"top_p"}  # both together are refused
    return {_FIELDS.get(name, name): value for name, value in granted(wishes, known, ledger).items()}


_FIELDS = {"stop": "stop_sequences"}


def _asker(request: Request, profile: BackendProfile, ledger: Ledger) -> Body:
    """Says for whom the proxy asks, in an opaque word, and how fast. There are two tiers, of which one is the account's
    own."""
    fields: Body = {}
    if request.service_tier:
        if "service_tier" in profile.tuning:
            fields["service_tier"] = "auto" if request.service_tier == "auto" else "standard_only"
        if request.service_tier not in TIERS or not fields:
            ledger.drop("service_tier")
    if request.user:
        if "user" in profile.tuning and "@" not in request.user and len(request.user) <= MAX_USER:
            fields["metadata"] = {"user_id": request.user}
        else:
            ledger.drop("user")
    return fields


def _is_without_sampling(profile: BackendProfile) -> bool:
    """Versions are dates."""
    return any(
        name.lower() == VERSION and value >= WITHOUT_SAMPLING for name, value in profile.headers.items()
    )
