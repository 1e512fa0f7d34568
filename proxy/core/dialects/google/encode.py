"""A request in the words of Gemini's generateContent, as one model understands them.

The body is built field by field from what is known to be wanted and understood; what the model cannot be told is left
out and counted. Its name and the wish for a stream stand in the URL.
"""

from proxy.core.dialects.google import models
from proxy.core.dialects.google.contents import encode_contents
from proxy.core.dialects.google.models import Traits
from proxy.core.dialects.writing import answer_format
from proxy.core.dialects.writing.body import Body, granted, leave_out_ways, patched, tuning_wishes
from proxy.core.dialects.writing.notes import ALWAYS_THINKS
from proxy.core.ledger import Ledger
from proxy.core.model import ChoiceMode, Request
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import Prepared, PreparedTool

PROTO = "google_proto"
"""This reduction of schemas belongs to the older field, which takes a subset of OpenAPI only."""

MAX_STOPS = 5
SEEDS = range(-(2**31), 2**31)
"""The field is an int32 there; a larger one is refused."""


def encode(request: Request, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger) -> Body:
    traits = models.traits_of(model)
    formats = () if prepared.tools and not traits.json_with_tools else profile.formats
    form = answer_format.plan(
        request.format, profile, ledger.work, with_tools=bool(prepared.tools), formats=formats
    )
    form.remark(ledger)
    prepared.format_unproven = form.unproven
    system, contents = encode_contents(
        request.turns, prepared.names, profile, traits, model, ledger, note=form.instruction
    )
    body: Body = {"contents": contents}
    if system:
        body["systemInstruction"] = {"parts": system}
    if prepared.tools:
        body["tools"] = [{"functionDeclarations": [_declared(tool, profile) for tool in prepared.tools]}]
        body["toolConfig"] = {"functionCallingConfig": _calling(prepared, traits, ledger)}
        if not request.parallel_calls:
            ledger.drop("parallel_tool_calls")
    config = (
        _tuning(request, profile, ledger)
        | _thinking(request, profile, traits, ledger)
        | _format(form.response_format, profile)
    )
    if config:
        body["generationConfig"] = config
    leave_out_ways(request, ledger)
    if tier := _tier(request, profile, ledger):
        body["serviceTier"] = tier
    return patched(body, profile.extra, ledger)


# ── tools ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _declared(tool: PreparedTool, profile: BackendProfile) -> Body:
    declared: Body = {"name": tool.name}
    if tool.description:
        declared["description"] = tool.description
    if PROTO not in profile.schema:
        declared["parametersJsonSchema"] = tool.parameters
    elif tool.parameters.get("properties"):  # older models refuse an object of nothing
        declared["parameters"] = tool.parameters
    elif note := tool.parameters.get("description"):  # which may be all that is told of a map
        declared["description"] = "\n".join(text for text in (tool.description, note) if text)
    return declared


def _calling(prepared: Prepared, traits: Traits, ledger: Ledger) -> Body:
    match prepared.mode:
        case ChoiceMode.NONE:
            return {"mode": "NONE"}
        case ChoiceMode.REQUIRED:  # which holds it to the schemas anyway
            return {"mode": "ANY"} | ({"allowedFunctionNames": [prepared.forced]} if prepared.forced else {})
        case ChoiceMode.AUTO if traits.validated and any(tool.strict for tool in prepared.tools):
            return {"mode": "VALIDATED"}
        case _:
            prepared.drop_strict(prepared.tools, ledger)
            return {"mode": "AUTO"}


# ── generation ─────────────────────────────────────────────────────────────────────────────────────────────────

_FIELDS = {
    "temperature": "temperature",
    "top_p": "topP",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "seed": "seed",
    "stop": "stopSequences",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
"""Maps our names, which the profile has too, to Gemini's."""


def _tuning(request: Request, profile: BackendProfile, ledger: Ledger) -> Body:
    sampling = request.sampling
    limit = sampling.max_tokens or profile.length_default
    config: Body = {"maxOutputTokens": limit} if limit else {}
    known = profile.tuning & _FIELDS.keys()
    if sampling.seed is not None and sampling.seed not in SEEDS:
        known -= {"seed"}
    wishes = granted(tuning_wishes(request), known, ledger)
    config |= {_FIELDS[name]: value for name, value in wishes.items()}
    if len(config.get("stopSequences", ())) > MAX_STOPS:
        config["stopSequences"] = config["stopSequences"][:MAX_STOPS]
        ledger.drop("stop")
    return config


TIERS = {"default": "standard", "flex": "flex", "priority": "priority"}


def _tier(request: Request, profile: BackendProfile, ledger: Ledger) -> str | None:
    wanted = request.service_tier
    if wanted is None or wanted == "auto":
        return None
    tier = TIERS.get(wanted) if "service_tier" in profile.tuning else None
    if tier is None:
        ledger.drop("service_tier")
    return tier


def _thinking(request: Request, profile: BackendProfile, traits: Traits, ledger: Ledger) -> Body:
    wish = request.reasoning
    effort = profile.effort_map.get(wish.effort, wish.effort) if wish.effort else None
    config = None
    if profile.effort_field != "none":
        config = traits.thinking_config(effort, with_thoughts=wish.summary is not None)
    if wish.effort and (config is None or effort not in models.EFFORTS):
        ledger.drop("reasoning_effort")
    if wish.effort == "none" and config and config.get("thinkingBudget") != 0:
        ledger.warn(ALWAYS_THINKS)
    return {"thinkingConfig": config} if config else {}


def _format(wanted: Body | None, profile: BackendProfile) -> Body:
    if wanted is None:
        return {}
    config: Body = {"responseMimeType": "application/json"}
    if "json_schema" in wanted:
        field = "responseSchema" if PROTO in profile.schema else "responseJsonSchema"
        config[field] = wanted["json_schema"]["schema"]
    return config
