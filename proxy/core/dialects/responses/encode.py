"""A request in the words of the Responses API, as one backend understands them.

The body is built field by field from what is known to be wanted and understood; nothing is copied from the client.
Nothing is to be stored at the backend, and nothing there is named: the whole conversation goes with each request.
"""

from proxy.core.dialects.reading.reply_lessons import asked_whole
from proxy.core.dialects.responses import items, tools
from proxy.core.dialects.writing import answer_format
from proxy.core.dialects.writing.answer_format import FormatPlan
from proxy.core.dialects.writing.body import (
    Body,
    granted,
    hints,
    leave_out_ways,
    patched,
    tuning_wishes,
    unusual_tier,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import Prepared

LOGPROBS = "message.output_text.logprobs"
SEALED_THOUGHTS = "reasoning.encrypted_content"

ALWAYS = frozenset(
    {
        "temperature",
        "top_p",
        "logprobs",
        "top_logprobs",
        "verbosity",
        "service_tier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
    }
)
"""The tuning that the API has. Some servers take more."""

SWITCHES = {"disabled": "none", "enabled": None, "adaptive": None}
"""Words of vendors that can only switch thinking on and off."""


def encode(request: Request, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger) -> Body:
    """Makes the body. `profile` is already that of the model.

    The proxy asks for a stream whatever the client wants, so that it reads all replies alike, except from servers that
    send no usage with a stream.
    """
    offered = tools.offer(request, prepared, profile, ledger)
    form = answer_format.plan(request.format, profile, ledger.work, with_tools=bool(offered))
    prepared.format_unproven = form.unproven
    form.remark(ledger)
    flatten = profile.orphan_tools == "flatten" and not prepared.tools and tools.tells_calls(request)
    conversation = items.converse(
        request, prepared, profile, model, ledger, flatten=flatten, note=form.instruction
    )
    tuning = _tuning(profile)
    wishes = granted(tuning_wishes(request) | {"service_tier": unusual_tier(request)}, tuning, ledger)
    body: Body = {
        "model": model,
        "instructions": conversation.instructions or None,
        "input": conversation.items,
        **offered,
        "max_output_tokens": _length(request, profile),
        "text": _text(form, wishes) or None,
        "reasoning": _reasoning(request, profile, ledger) or None,
        "include": _include(request, prepared, profile, wishes) or None,
        "max_tool_calls": request.hosted.max_calls if request.hosted and prepared.hosted else None,
        **{name: wishes[name] for name in wishes if name not in ("logprobs", "verbosity")},
        **hints(request, tuning, ledger),
        "store": False,
        "stream": not asked_whole(request, profile),
    }
    return patched({name: value for name, value in body.items() if value is not None}, profile.extra, ledger)


def _tuning(profile: BackendProfile) -> frozenset[str]:
    return profile.tuning & (ALWAYS | profile.tuning_beside_api)


def _length(request: Request, profile: BackendProfile) -> int | None:
    limit = request.sampling.max_tokens or profile.length_default
    return max(limit, profile.length_least) if limit else None


def _text(form: FormatPlan, wishes: Body) -> Body:
    text: Body = {}
    if form.response_format:
        kind = form.response_format["type"]
        text["format"] = {"type": kind, **form.response_format.get(kind, {})}
    if "verbosity" in wishes:
        text["verbosity"] = wishes["verbosity"]
    return text


def _reasoning(request: Request, profile: BackendProfile, ledger: Ledger) -> Body:
    wish = request.reasoning
    if not profile.ways_of_thinking:
        leave_out_ways(request, ledger)
    ways = wish.ways if profile.ways_of_thinking else {}
    if profile.effort_field == "none":
        if wish.effort:
            ledger.drop("reasoning_effort")
        return {**ways}
    word = profile.effort_map.get(wish.effort, wish.effort) if wish.effort else None
    effort = SWITCHES.get(word, word) if word else None
    if wish.effort and effort is None:
        ledger.drop("reasoning_effort")
    fields = {"effort": effort, "summary": wish.summary if profile.summaries else None, **ways}
    return {name: value for name, value in fields.items() if value}


def _include(request: Request, prepared: Prepared, profile: BackendProfile, wishes: Body) -> list[str]:
    sealed = [SEALED_THOUGHTS] if profile.sealed_thoughts else []
    if request.hosted is not None and prepared.hosted:
        sealed += request.hosted.include
    return sealed + ([LOGPROBS] if "logprobs" in wishes else [])
