"""Which backend is it? Answered from the URL, from its list of models, or from harmless questions, in this order.

Pure functions over what was seen; the shell does the asking. Known hosts are asked for nothing but their models.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.google.models import PREFIX as GOOGLES_PREFIX

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
    told = {name.lower(): value.lower() for name, value in headers.items()}
    if any(name.startswith("x-litellm-") for name in told):
        return "litellm"
    if told.get("server", "").startswith("llama.cpp"):
        return "llamacpp"
    for entry in entries(listing):
        if name := _by_entry(entry):
            return name
    return None


def entries(listing: Any) -> list[Mapping[str, Any]]:
    """The models in a list: below `data`, as Together has it the list itself, or below `models`."""
    if isinstance(listing, Mapping):
        listing = listing.get("data") or listing.get("models")
    listed = listing if isinstance(listing, list) else []
    return [_named(entry) for entry in listed if isinstance(entry, Mapping)]


def _named(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Google calls `models/x` what all others, and its own clients, call x."""
    name = entry.get("name")
    if "id" in entry or not isinstance(name, str) or not name.startswith(GOOGLES_PREFIX):
        return entry
    return {**entry, "id": name.removeprefix(GOOGLES_PREFIX)}


def _by_entry(entry: Mapping[str, Any]) -> str | None:
    if (owner := entry.get("owned_by")) in tuple(_OWNERS):
        return _OWNERS[owner]
    if _inside(entry, "meta.n_ctx") is not None:
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
    """One harmless GET, from the root of the server: no model is loaded, nobody's state is read."""

    path: str
    profile: str
    proves: Callable[[Any], bool]
    """Is this body, answered with 200, that server's?"""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    """The JSON in it, or None."""


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
"""The more telling first. Answers tell more than one apart only here: the paths are the servers' own."""

_GUARDED = frozenset({401, 403})
_USUAL_PORTS = {
    11434: "ollama",
    1234: "lmstudio",
    8000: "vllm",
    8080: "llamacpp",
    30000: "sglang",
    4000: "litellm",
}


def by_probes(answers: Mapping[str, Answer], port: int | None = None) -> str | None:
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


# ── how much fits ──────────────────────────────────────────────────────────────────────────────────────────────

_WINDOW_KEYS = (
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "max_context",
    "meta.n_ctx",
    "limits.max_context_length",
    "capabilities.limits.max_prompt_tokens",
    "max_input_tokens",
    "inputTokenLimit",
)
"""`meta.n_ctx_train` is not among them: it is what the model could hold, not what this server gives it."""


def window(entry: Mapping[str, Any]) -> int | None:
    """The context window that an entry of the model list tells."""
    for key in _WINDOW_KEYS:
        size = _inside(entry, key)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return size
    return None


def _inside(entry: Any, key: str) -> Any:
    for step in key.split("."):
        entry = entry.get(step) if isinstance(entry, Mapping) else None
    return entry
