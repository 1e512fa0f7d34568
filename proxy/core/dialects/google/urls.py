"""Where a Gemini backend is asked: the version is a part of the path, and the model too."""

import re
from urllib.parse import parse_qsl, quote, urlencode, urlunsplit

from proxy.core.backends.listing import bare
from proxy.core.backends.target import MODELS, Target, checked

STREAM = "streamGenerateContent"
AS_EVENTS = ("alt", "sse")
"""Without it the stream is one JSON array, which few can read before its end."""
ALL_AT_ONCE = ("pageSize", "1000")
"""Asks for all models at once; otherwise the list comes in pages of fifty."""

_PASTED = re.compile(r"/models(?:/.*)?$")
_VERSIONED = re.compile(r"/v\d\w*$")


def reply_url(target: Target, model: str) -> str:
    # A slash in the name would lead elsewhere.
    return _below(target, f"{MODELS}/{quote(bare(model), safe='')}:{STREAM}", AS_EVENTS)


def models_url(target: Target) -> str:
    return _below(target, MODELS, ALL_AT_ONCE)


def _below(target: Target, endpoint: str, parameter: tuple[str, str]) -> str:
    """Puts an endpoint below the base: the URL without a pasted endpoint, with the profile's version if it has none."""
    url = checked(target.base_url)
    base = _PASTED.sub("", url.path.rstrip("/")).rstrip("/")
    if not _VERSIONED.search(base):
        base += target.profile.root
    given = dict(parse_qsl(url.query, keep_blank_values=True))
    query = {**target.profile.query, **given, **dict([parameter])}
    return urlunsplit((url.scheme, url.netloc, base + endpoint, urlencode(query), ""))
