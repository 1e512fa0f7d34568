"""What depends on a model's name, not on the host: a row for each quirk, laid over the profile of the backend that
serves it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.backends.efforts import THREE_LEVELS, efforts
from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT, BackendProfile, NativeTool, SchemaRule, overridden


@dataclass(frozen=True, slots=True)
class ModelRule:
    """A model brings its vendor's quirks along wherever it is served."""

    words: tuple[str, ...]
    """One of them stands in the model's name, in lower case."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    where_default: Mapping[str, Any] = field(default_factory=dict)
    """These changes concern only fields for which the host has no opinion of its own."""
    schema: frozenset[SchemaRule] = frozenset()
    """These reductions come on top of the host's."""
    only: frozenset[str] | None = None
    """The rule was made for these profiles. Default: for all."""
    never: frozenset[str] = frozenset()
    """These hosts are known to refuse it."""


_OPENAI = frozenset({"openai", "azure", "azure-deployment", "azure-responses"})

_FREE: frozenset[NativeTool] = frozenset({"custom", "allowed_tools"})
"""What its models take as it is from the first that took free text."""

MODEL_RULES = (
    ModelRule(
        ("mistral", "devstral", "magistral", "codestral"), {"after_tool": "Done.", "call_id": "alnum9"}
    ),
    ModelRule(
        ("deepseek-v4", "kimi-k2", "kimi-k3"),
        {"replay_blank": " "},
        where_default={"replay": "reasoning_content"},
        never=frozenset({"groq"}),
    ),
    ModelRule(("deepseek-r1",), {"replay": "none", "replay_blank": None, "replay_by_evidence": False}),
    ModelRule(("kimi",), schema=frozenset({"moonshot"})),
    ModelRule(
        ("gemini",), {"signed_calls": True}, schema=frozenset({"gemini"}), never=frozenset({"google"})
    ),  # which speaks its own language there
    ModelRule(
        ("gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6"),
        {"thinks_beside_tools": False},
        only=_OPENAI,
    ),
    ModelRule(
        (
            "-codex",
            "codex-mini",
            "o1-pro",
            "o3-pro",
            "gpt-5-pro",
            "gpt-5.2-pro",
            "gpt-5.4-pro",
            "gpt-5.5-pro",
            "gpt-5.6-pro",
            "gpt-6-pro",
            "deep-research",
            "computer-use",
        ),
        where_default={"wire": "responses"},
        only=_OPENAI,
    ),  # which are not offered by Chat at all
    ModelRule(
        ("gpt-5", "gpt-6", "codex", "o1", "o3", "o4", "computer-use"),
        {"sealed_thoughts": True, "summaries": True},
        only=_OPENAI,
    ),
    ModelRule(("gpt-5.6", "gpt-6"), {"effort_map": {}, "ways_of_thinking": True}, only=_OPENAI),
    ModelRule(("gpt-5", "gpt-6", "codex"), {"native_tools": _FREE}, only=_OPENAI),
    ModelRule(("gpt-5.", "gpt-6"), {"native_tools": _FREE | {"shell", "apply_patch"}}, only=_OPENAI),
    ModelRule(
        ("gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6"),
        {"native_tools": _FREE | {"shell", "apply_patch", "namespace"}},
        only=_OPENAI,
    ),
    ModelRule(("codex-mini-latest",), {"native_tools": frozenset({"local_shell"})}, only=_OPENAI),
    ModelRule(
        ("-chat",),
        {
            "sealed_thoughts": False,
            "summaries": False,
            "ways_of_thinking": False,
            "native_tools": frozenset(),
        },
        only=_OPENAI,
    ),
    ModelRule(("vision",), {"images": "any"}, only=frozenset({"deepseek"})),
    ModelRule(
        ("kimi-k3",),
        {"effort_field": "reasoning_effort", "effort_map": efforts(None, "low", "low", "high", "max")},
        only=frozenset({"moonshot"}),
    ),
    ModelRule(
        ("-m3",),
        {
            "effort_field": "thinking",
            "effort_map": efforts("disabled", "adaptive", "adaptive", "adaptive", "adaptive"),
        },
        only=frozenset({"minimax"}),
    ),
    ModelRule(
        ("qwen",),
        {"effort_map": efforts("none", "default", "default", "default", "default")},
        only=frozenset({"groq"}),
    ),
    ModelRule(("gpt-oss",), {"effort_map": THREE_LEVELS | {"none": None}}, only=frozenset({"groq"})),
    ModelRule(("llama",), {"effort_field": "none"}, only=frozenset({"groq"})),
    ModelRule(("grok-4.5",), {"effort_map": THREE_LEVELS | {"none": None}}, only=frozenset({"xai"})),
    ModelRule(("kimi",), {"parallel": "false"}, only=frozenset({"nim"})),
)


def for_model(profile: BackendProfile, model: str) -> BackendProfile:
    """Gives the profile of one model there."""
    name = model.lower()
    for rule in MODEL_RULES:
        if any(word in name for word in rule.words) and _concerns(rule, profile):
            profile = _applied(rule, profile)
    return profile


def profile_of(target: Target, model: str) -> BackendProfile:
    """Gives the profile of one model at a backend. What the operator has set by hand stays."""
    profile = for_model(target.profile, model)
    return overridden(profile, target.overrides) if target.overrides else profile


def _concerns(rule: ModelRule, profile: BackendProfile) -> bool:
    return profile.name not in rule.never and (rule.only is None or profile.name in rule.only)


def _applied(rule: ModelRule, profile: BackendProfile) -> BackendProfile:
    unsettled = {
        name: value
        for name, value in rule.where_default.items()
        if getattr(profile, name) == getattr(DEFAULT, name)
    }
    return replace(profile, **rule.changes, **unsettled, schema=profile.schema | rule.schema)
