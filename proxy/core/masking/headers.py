"""HTTP headers as somebody may read them later: the name of each, and the value where it can be no secret.

Keys travel in headers under many names, and operators invent more. So the names that are harmless are listed, and not
those that are not.
"""

from collections.abc import Mapping

from proxy.core.masking.redact import MASK, masked

HARMLESS = frozenset(
    {
        "accept", "accept-encoding", "accept-language", "age", "allow", "anthropic-beta", "anthropic-version",
        "cache-control", "connection", "content-encoding", "content-length", "content-type", "date", "host",
        "keep-alive", "openai-beta", "openai-processing-ms", "openai-version", "originator", "retry-after",
        "retry-after-ms", "server", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via",
        "x-accel-buffering", "x-proxy-call-ids", "x-proxy-events", "x-request-id", "x-should-retry",
    }
)  # fmt: skip
LEAST_KEY, MAX_KEY, MOST_KEYS = 12, 400, 8
"""Characters of a value that is looked for, and how many there may be: each has its price."""
HARMLESS_BEGINNINGS = ("x-stainless-", "x-codex-", "x-ratelimit-", "anthropic-ratelimit-")


def shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """All names, and the values of those that are harmless. What looks like a key is masked even there."""
    return {name: _shown(name.lower(), value) for name, value in headers.items()}


def keys_in(headers: Mapping[str, str]) -> list[str]:
    """The values that are not shown, but for short ones, which may be words: whoever keeps what was said in the request
    looks for them there."""
    hidden = [value for name, value in headers.items() if _shown(name.lower(), value) != value]
    return [value for value in hidden if LEAST_KEY <= len(value) <= MAX_KEY][:MOST_KEYS]


def _shown(name: str, value: str) -> str:
    return masked(value) if name in HARMLESS or name.startswith(HARMLESS_BEGINNINGS) else MASK
