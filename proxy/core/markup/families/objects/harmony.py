"""Harmony (gpt-oss): a message to a function.

    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{json}<|call|>

`<|start|>assistant` and `<|constrain|>` may be missing, the recipient may stand before the channel, and the message may
end with `<|end|>` or with the text. What names no recipient is prose. A tool that takes one text may get it as it is,
up to `<|call|>`.

The second format has lost its tokens, `assistant to=functions.NAME commentary json {json}`. It is optional, since
nothing tells it from prose.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import bodies, jsonish
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict

_HEADER: Final = re.compile(
    r"(?:<\|start\|>\s?assistant)?\s{0,4}(?:to=(?P<before>[^\s<]{1,200}))?\s{0,4}"
    r"<\|channel\|>\s?\w{1,40}\s{0,4}(?:to=(?P<after>[^\s<]{1,200}))?\s{0,4}"
    r"(?:<\|constrain\|>\s?\w{1,40}|json|code)?\s{0,4}<\|message\|>"
)
_STRIPPED: Final = re.compile(
    r"(?:assistant)?\s{0,4}(?:commentary|analysis)?\s{0,4}to=(?P<before>functions\.[\w.-]{1,200})"
    r"(?P<after>)\s{1,4}(?:commentary|analysis)?\s{0,4}(?:json|code)?\s{0,4}(?=\{)"
)
_LONGEST_HEADER: Final = 700
_CALLED: Final = "<|call|>"
_ENDS: Final = (_CALLED, "<|end|>", "<|return|>")


def _read(header: re.Pattern[str], last: str, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    unended: Verdict = None if ended else MORE
    found = header.match(text, at)
    name = found and (found["after"] or found["before"])
    if not found or not name:
        settled = last in text[at : at + _LONGEST_HEADER] or len(text) - at >= _LONGEST_HEADER
        return None if settled or "\n\n" in text[at:] else unended
    start = bodies.after_blank(text, found.end())
    if start == len(text):
        return unended
    name = name.removeprefix("functions.")
    if not text.startswith("{", start):
        return _plain(name, text, found.end(), unended, tools)
    value = jsonish.scan(text, start)
    if value.missing:
        return unended if value.stop == len(text) else None
    arguments = bodies.object_text(text[start : value.stop])
    if arguments is None:
        return None
    calls = (Recovered(name, arguments),)
    position = bodies.after_blank(text, value.stop)
    if closed := bodies.follows(text, position, _ENDS):
        return Block(closed, calls)
    if not ended and bodies.may_follow(text, position, _ENDS):
        return MORE
    return Block(value.stop, calls) if position == len(text) or header is _STRIPPED else None


def _plain(name: str, text: str, start: int, unended: Verdict, tools: Tools) -> Verdict:
    if bodies.only_text("", schema := tools.schema(name)) is None:
        return None
    end = text.find(_CALLED, start)
    if end < 0:
        return unended
    arguments = bodies.only_text(text[start:end], schema)
    return Block(end + len(_CALLED), (Recovered(name, arguments),)) if arguments else None


FORMATS: Final = (
    Format(
        "harmony",
        Tier.WRAPPED,
        ("<|start|>assistant", "<|channel|>commentary", "<|channel|>analysis"),
        partial(_read, _HEADER, "<|message|>"),
        _ENDS,
    ),
    Format(
        "harmony-words",
        Tier.OPTIONAL,
        (
            "assistant to=functions.",
            "assistantcommentary to=functions.",
            "commentary to=functions.",
            "to=functions.",
        ),
        partial(_read, _STRIPPED, "{"),
        ("}",),
    ),
)
