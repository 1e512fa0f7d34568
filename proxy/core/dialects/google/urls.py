"""Where a Gemini backend is asked: the version is a part of the path, and the model too."""

import re
from urllib.parse import parse_qsl, quote, urlencode, urlunsplit

from proxy.core.backends.listing import bare
from proxy.core.backends.target import MODELS, Target, checked

STREAM, COUNT = "streamGenerateContent", "countTokens"
AS_EVENTS = ("alt", "sse")
"""Without it the stream is one JSON array, which few can read before its end."""
ALL_AT_ONCE = ("pageSize", "1000")
"""Asks for all models at once; otherwise the list comes in pages of fifty."""

_PASTED = re.compile(r"/models(?:/.*)?$")
_VERSIONED = re.compile(r"/v\d\w*$")


def reply_url(target: Target, model: str) -> str:
    return _below(target, _of_model(model, STREAM), AS_EVENTS)


def count_url(target: Target, model: str) -> str:
    return _below(target, _of_model(model, COUNT))


def models_url(target: Target) -> str:
    return _below(target, MODELS, ALL_AT_ONCE)


def _of_model(model: str, method: str) -> str:
    """A slash in the name would lead elsewhere."""
    return f"{MODELS}/{quote(bare(model), safe='')}:{method}"


def _below(target: Target, endpoint: str, *parameters: tuple[str, str]) -> str:
    """Puts an endpoint below the base: the URL without a pasted endpoint, with the profile's version if it has none."""
    url = checked(target.base_url)
    base = _PASTED.sub("", url.path.rstrip("/")).rstrip("/")
    if not _VERSIONED.search(base):
        base += target.profile.root
    given = dict(parse_qsl(url.query, keep_blank_values=True))
    query = {**target.profile.query, **given, **dict(parameters)}
    return urlunsplit((url.scheme, url.netloc, base + endpoint, urlencode(query), ""))
