"""What all encoders do alike: they heed the wishes that the backend knows, and end with its profile's patch."""

from collections.abc import Collection, Mapping
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.model import UNTUNED, Request
from proxy.core.profile import BackendProfile

Body = dict[str, Any]


USUAL_TIERS = ("auto", "default")
"""Backends do so without being asked."""

MAX_LABEL = 64
"""Characters of the name of a user that OpenAI takes."""


def tuning_wishes(request: Request) -> Body:
    """Collects how the client wants the model to generate, by our names; None is no wish. Empty if there is none at
    all."""
    sampling = request.sampling
    if (sampling is UNTUNED or sampling == UNTUNED) and request.verbosity is None:  # nearly always
        return {}
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "presence_penalty": sampling.presence_penalty or None,  # 0 is what no penalty is called
        "frequency_penalty": sampling.frequency_penalty or None,
        "seed": sampling.seed,
        "stop": sampling.stop or None,
        "logprobs": sampling.logprobs or sampling.top_logprobs > 0 or None,
        "top_logprobs": sampling.top_logprobs or None,
        "verbosity": request.verbosity,
    }


def hints(request: Request, known: Collection[str], ledger: Ledger) -> Body:
    """Picks labels that change no answer: where the backend does not know them, nothing is lost."""
    if not request.cache and request.user is None:
        return {}
    labels = request.cache | ({} if request.user is None else {"safety_identifier": request.user})
    if len(labels.get("safety_identifier", "")) > MAX_LABEL:
        del labels["safety_identifier"]
        ledger.drop("user")
    return {name: value for name, value in labels.items() if name in known}


def parallel_calls(request: Request, profile: BackendProfile, ledger: Ledger) -> Body:
    """Says that one call at a time is wanted, where the backend heeds it."""
    if profile.parallel == "false" or (profile.parallel == "obey" and not request.parallel_calls):
        return {"parallel_tool_calls": False}
    if not request.parallel_calls:
        ledger.drop("parallel_tool_calls")
    return {}


def unusual_tier(request: Request) -> str | None:
    """The tier that has to be asked for."""
    return None if request.service_tier in USUAL_TIERS else request.service_tier


def leave_out_ways(request: Request, ledger: Ledger) -> None:
    """Counts how the model was to think, where the backend has no words for it."""
    if "context" in request.reasoning.ways:
        ledger.drop("reasoning_context")
    if "mode" in request.reasoning.ways:
        ledger.drop("reasoning_mode")


def granted(wishes: Mapping[str, Any], known: Collection[str], ledger: Ledger) -> Body:
    """Picks the wishes that the backend knows, and counts the others as dropped."""
    fields: Body = {}
    for name, value in wishes.items():
        if value is None:
            continue
        if name in known:
            fields[name] = value
        else:
            ledger.drop(name)
    return fields


def patched(body: Body, patch: Mapping[str, Any], ledger: Ledger) -> Body:
    """Applies the JSON merge patch of the profile. This comes last."""
    for name, value in patch.items():
        if value is None:
            if body.pop(name, None) is not None:
                ledger.drop(name)
        elif isinstance(value, Mapping):
            inner = body.get(name)
            body[name] = patched(dict(inner) if isinstance(inner, dict) else {}, value, ledger)
        else:
            body[name] = value
    return body
