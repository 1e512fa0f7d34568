"""Which backend is it? Answered from the URL, from its list of models, or from harmless questions, in this order.

These are pure functions over the answers; the shell asks. Known hosts are asked only for their models.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from proxy.core.backends.listing import entries, inside
from proxy.core.backends.profiles import PROFILES

# ── by the URL ─────────────────────────────────────────────────────────────────────────────────────────────────


def by_url(url: str) -> str | None:
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    for profile in PROFILES.values():
        for pattern in profile.hosts:
            if fnmatchcase(host + parts.path if "/" in pattern else host, pattern):
                return profile.name
    return None


# ── by the list of models ──────────────────────────────────────────────────────────────────────────────────────

_OWNERS = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llamacpp",
    "organization_owner": "lmstudio",
}


def by_models(listing: Any, headers: Mapping[str, str]) -> str | None:
    """`listing` is the answer of `/models`, whatever it turned out to be, `headers` are that answer's."""
    lowered = {name.lower(): value.lower() for name, value in headers.items()}
    if any(name.startswith("x-litellm-") for name in lowered):
        return "litellm"
    if lowered.get("server", "").startswith("llama.cpp"):
        return "llamacpp"
    for entry in entries(listing):
        if name := _by_entry(entry):
            return name
    return None


def _by_entry(entry: Mapping[str, Any]) -> str | None:
    if (owner := entry.get("owned_by")) in tuple(_OWNERS):
        return _OWNERS[owner]
    if inside(entry, "meta.n_ctx") is not None:
        return "llamacpp"
    if "max_model_len" in entry:
        return "vllm" if "permission" in entry else "sglang"
    if entry.keys() >= {"context_length", "pricing", "supported_parameters"}:
        return "openrouter"
    if "supportedGenerationMethods" in entry:
        return "google"
    return None


# ── by asking ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Probe:
    """Asks one harmless GET, from the root of the server: no model is loaded, nobody's state is read."""

    path: str
    profile: str
    proves: Callable[[Any], bool]
    """Is this body, answered with 200, that server's?"""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    status: int
    body: Any
    """Holds the JSON in it, or None."""


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda body: isinstance(body, dict) and all(key in body for key in keys)


def _lmstudio(body: Any) -> bool:
    return any("loaded_instances" in entry for entry in entries(body))


def _alive(body: Any) -> bool:
    return isinstance(body, str) and "alive" in body


PROBES = (
    Probe("/props", "llamacpp", _has("default_generation_settings")),
    Probe("/api/version", "ollama", _has("version")),
    Probe("/api/v1/models", "lmstudio", _lmstudio),
    Probe("/model_info", "sglang", _has("model_path")),
    Probe("/info", "tgi", _has("max_total_tokens")),
    Probe("/health/liveliness", "litellm", _alive),
    Probe("/version", "vllm", _has("version")),
)
"""The surest first. The paths are the servers' own, so an answer at one of them tells which server it is."""

_GUARDED = frozenset({401, 403})
_USUAL_PORTS = {
    11434: "ollama",
    1234: "lmstudio",
    8000: "vllm",
    8080: "llamacpp",
    30000: "sglang",
    4000: "litellm",
}


def by_probes(answers: Mapping[str, ProbeAnswer], port: int | None = None) -> str | None:
    """`answers` by path. A guarded path exists, which proves something only if not every path is guarded.

    The port alone proves nothing; it settles which of several guarded paths is believed.
    """
    guarded = []
    for probe in PROBES:
        answer = answers.get(probe.path)
        if answer is None:
            continue
        if answer.status == 200 and probe.proves(answer.body):
            return probe.profile
        if answer.status in _GUARDED:
            guarded.append(probe.profile)
    if len(guarded) == 1 and len(answers) > 1:
        return guarded[0]
    usual = _USUAL_PORTS.get(port or 0)
    return usual if usual in guarded else None
