"""Characters that are invisible and still change what a terminal, a log reader or a person sees.

Controls end lines and colour them. Marks of direction turn the rest of a line around, so that it reads as another one
(Unicode's report 36). Zero-width characters, tags and variation selectors hide one text inside another. The proxy shows
what strangers sent without any of them.
"""

import re

SEPARATORS = "\u2028\u2029"
SURROGATES = "\ud800-\udfff"
CONTROLS = "\x00-\x1f\x7f-\x9f"
FORMATS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001"
    "\U000e0020-\U000e007f"
)
"""All of Unicode's category Cf: a test compares them with Python's own table."""
BLANKS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff"
)
"""The other characters that have no shape of their own: joiners, fillers, and selectors of a variant of the letter
before."""

UNSEEN = re.compile(f"[{CONTROLS}{SEPARATORS}{SURROGATES}{FORMATS}{BLANKS}]")


def visible(line: str) -> str:
    """Writes those characters of a line as JSON escapes them. In JSON this leaves the value as it is: only its strings
    can hold such characters."""
    if line.isascii() and line.isprintable():
        return line
    return UNSEEN.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    """One of Unicode's higher planes becomes two escapes."""
    code = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{code[at : at + 4]}" for at in range(0, len(code), 4))
