"""Harmony (gpt-oss): a message to a function.

    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{json}<|call|>

`<|start|>assistant` and `<|constrain|>` may be missing, the recipient may stand before the channel, the channel may be
written once more behind it, and the message may end with `<|end|>` or with the text. Where the prompt ends with
`<|start|>assistant`, the reply begins with the recipient. LLM-jp puts a blank behind each token, and the format may be
glued to the name. What names no recipient is prose. A tool that takes one text may get it as it is, up to `<|call|>`.

Some write the header as an element, `<assistant to=NAME json>{json}</assistant>`, or in brackets, which is optional.
The last format has lost its tokens, `assistant to=functions.NAME commentary json {json}`. It is optional, since
nothing tells it from prose.
"""

from functools import partial
from typing import Final

from proxy.core.markup import bodies, jsonish
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
from proxy.core.markup.shapes import Shape, blanks, either, literal, maybe, named, sequence, shape, signs

_WORD: Final = signs(r"\w", 40)
_HEADER: Final = shape(
    maybe(literal("<|start|>"), blanks(1), literal("assistant")),
    blanks(),
    maybe(literal("to="), named("before", signs(r"[^\s<]", 200))),
    blanks(),
    literal("<|channel|>"),
    blanks(1),
    _WORD,
    blanks(),
    maybe(literal("to="), named("after", signs(r"[^\s<]", 200))),
    blanks(),
    maybe(literal("<|channel|>"), blanks(1), _WORD),
    blanks(),
    maybe(either(sequence(literal("<|constrain|>"), blanks(), _WORD), literal("json"), literal("code"))),
    blanks(),
    literal("<|message|>"),
)
_KIND: Final = maybe(either(literal("code"), literal("json")))
_CHANNELS: Final = ("commentary", "analysis")
_CHANNEL: Final = either(*map(literal, _CHANNELS))
_STRIPPED: Final = shape(
    maybe(literal("assistant")),
    blanks(),
    maybe(_CHANNEL),
    blanks(),
    literal("to="),
    named("before", sequence(literal("functions."), signs(r"[\w.-]", 200))),
    named("after", literal("")),
    signs(r"\s", 4),
    maybe(_CHANNEL),
    blanks(),
    _KIND,
    blanks(),
    literal("{"),
)
_NAME: Final = named("before", signs(r"[^\s<>]", 200))
_ELEMENT: Final = shape(
    literal("<assistant to="), _NAME, named("after", literal("")), blanks(), _KIND,
    blanks(), literal(">"),
)  # fmt: skip
_ELEMENT_ENDS: Final = ("</assistant>", "<|call|>")
_BRACKETS: Final = shape(
    literal("[assistant to="), _NAME, named("after", literal("")), blanks(), _KIND,
    blanks(), literal("<|message|>"),
)  # fmt: skip
_CALLED: Final = "<|call|>"
_ENDS: Final = (_CALLED, "<|end|>", "<|return|>")


def _read(header: Shape, ends: tuple[str, ...], text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    found = header.whole.match(text, at)
    name = found and (found["after"] or found["before"])
    if not found or not name:
        return MORE if not found and not ended and header.begun.match(text, at) else None
    if tools.declared(name) is None:
        name = name.removesuffix("json")
    unended = None if ended else waiting(tools, [name], len(text) - at)
    start = found.end() - 1 if header is _STRIPPED else bodies.after_blank(text, found.end())
    if start == len(text):
        return unended
    name = name.removeprefix("functions.")
    if not text.startswith("{", start) and header is not _HEADER:
        return None
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
    if closed := bodies.follows(text, position, ends):
        return Block(closed, calls)
    if not ended and bodies.may_follow(text, position, ends):
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
        tuple(
            f"{token}{blank}{word}"
            for blank in ("", " ")
            for token, word in (("<|start|>", "assistant"), *(("<|channel|>", one) for one in _CHANNELS))
        ),
        partial(_read, _HEADER, _ENDS),
        _ENDS,
        first=("to=",),
        leftovers=_ENDS,
    ),
    Format(
        "harmony-element",
        Tier.WRAPPED,
        ("<assistant to=",),
        partial(_read, _ELEMENT, _ELEMENT_ENDS),
        ("}", *_ELEMENT_ENDS),
        leftovers=_ELEMENT_ENDS,
    ),
    Format(
        "harmony-brackets",
        Tier.OPTIONAL,
        ("[assistant to=",),
        partial(_read, _BRACKETS, _ENDS),
        ("}", *_ENDS),
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
        partial(_read, _STRIPPED, _ENDS),
        ("}",),
    ),
)
