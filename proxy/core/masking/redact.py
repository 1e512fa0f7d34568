"""Makes texts of strangers fit to be shown: no secrets, nothing unseen, no endless length.

A backend's error may quote the key it was sent, or the URL that an operator configured with a password in it.
"""

import re
from functools import lru_cache

from proxy.core.masking.unseen import UNSEEN

MAX_QUOTE = 500
"""Characters: enough for every refusal that explains itself, fewer than a web page or a stack trace has."""
MAX_SEARCHED = 8 * MAX_QUOTE
"""Characters that are masked: more than are shown, because masking shortens. The rest is not read."""

MAX_SHOWN = 80
"""Characters of a client's own text in a message to it: enough to recognise, too few to flood a log."""

MASK = "[redacted]"

BEFORE_A_KEY = r"\b(?<![\w-]{16})"
"""None stands in the middle of a long run of a token's letters. Of some thousand tokens, the proxy's own among them,
one has by chance what looks like a key."""

_SECRETS = re.compile(
    rf"""
    {BEFORE_A_KEY}(?:
        (?:sk|pk|rk|gsk|csk|fw|xai|nvapi|pplx|tgp|gh[opsu])[-_][\w*-]{{8,}}  # prefixes that vendors use
        | hf_\w{{20,}}                     # Hugging Face, whose models are called hf_ too
        | AIza[\w-]{{10,}}                 # Google
        | (?<!-)eyJ[\w-]{{5,}}+(?:\.[\w-]++)++  # a signed token; never begun twice in one run of its letters
    )
    | (?<=://)[^\s/@]++(?=@)             # user and password in a URL
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""
    (?P<name>
        \b(?:
            bearer\s
            | (?:x-)?api[-_\s]?key\b(?:\s+provided)?["']?\s*[:=]
            | (?:authorization|password|secret|access[-_]token)["']?\s*[:=]
        )
        | [?&](?:key|sig|token|code)=
    )
    (?P<gap>\s*["']?(?:bearer\s+)?)
    [^\s"',;&)}\]]+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNSEEN = re.compile(f"(?:{UNSEEN.pattern})+")

_NAME = re.compile(r"[\w.:/@+-]+")
MAX_NAME, REMEMBERED = 128, 1024
"""Characters of a name, and how many names are remembered: each request has the same few."""


def masked(text: str) -> str:
    """Masks everything that looks like a key."""
    return _SECRETS.sub(MASK, _NAMED.sub(_without_value, text))


def _without_value(found: re.Match[str]) -> str:
    return f"{found['name']}{found['gap']}{MASK}"


def quotable(text: str, limit: int = MAX_QUOTE) -> str:
    """Returns one line, masked and cut."""
    text = masked(_UNSEEN.sub(" ", text[:MAX_SEARCHED])).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def as_name(text: str) -> str:
    """Returns a name or an id from outside, for the log. A text that can be neither becomes `*`: it may be a prompt in
    the wrong field."""
    return _name(text) if len(text) <= MAX_NAME else "*"


@lru_cache(REMEMBERED)
def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) else "*"


def shown(text: str) -> str:
    """Cuts and masks a client's own text for a message: the client may have sent a key in the wrong field."""
    return quotable(text, MAX_SHOWN)


def quoted(text: str) -> str:
    """Puts the shown text in quotation marks, so that readers see where it begins and ends."""
    return f"'{shown(text)}'"
