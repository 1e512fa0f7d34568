"""JSON as models write it: found inside text without trusting it, and read although it is not quite JSON.

The two steps each take one pass over the text. `scan` only finds where a value ends: it knows strings and brackets, so
that markup inside a string is data. `parse` reads that piece, first strictly, then with the mistakes forgiven that
models make: Python's `True`, `None` and single quotes, trailing commas, bare keys, escapes that JSON does not know.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.jsontext import BadJson

_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
BARE: Final = "\0bare"
"""The key under which a word stands that had no quotes."""
_LITERALS: Final = {
    **dict.fromkeys(("true", "True"), "true"),
    **dict.fromkeys(("false", "False"), "false"),
    **dict.fromkeys(("null", "None", "undefined", "NaN", "Infinity", "-Infinity"), "null"),
}
_MARKS: Final = {"(": "[", ")": "]"}
"""Python's tuples become lists."""

_ESCAPE: Final = re.compile(
    r'\\(?:(?P<known>["\\/bfnrt]|u[0-9a-fA-F]{4})|x(?P<hex>[0-9a-fA-F]{2})|(?P<other>.))|"', re.DOTALL
)
_NEVER_ESCAPED: Final = re.compile(r"(?s)(?:[^\\]|\\(?:[\"\\/bfnrt'\n]|u[0-9a-fA-F]{4}))*+\\.")
"""Matches a text with an escape that JSON does not know: nothing in it was escaped, as in a path of Windows."""
_PYTHONS_ESCAPES: Final = {"'": "'", "\n": ""}
"""The escapes that only Python knows. Any other that JSON does not know is two characters, as in Python."""

_FOLLOWED_AS_KEY: Final = re.compile(r"\s*[:=]")
_NUMBER: Final = re.compile(
    r"\+?(?P<sign>-?)(?:0(?=\d))*+(?P<digits>\d++)(?:\.(?P<rest>\d*(?:[eE][+-]?\d+)?)|(?P<power>[eE][+-]?\d+))?"
)
"""Matches numbers that JSON does not allow: with a plus, zeros in front, a dot at the end."""


@dataclass(frozen=True, slots=True)
class Notation:
    """How strings are written, and what else may stand in a value."""

    token: re.Pattern[str]
    quote: str | None = None
    """The token at both ends of a string, where it is no quotation mark."""
    bare_text: bool = False
    """May a text stand without quotes? Then every word becomes a `BARE` object: only a schema tells its type."""


def notation(
    *, marks: str = r"[{}\[\]]", quote: str | None = None, bare_text: bool = False, loose: bool = False
) -> Notation:
    """Makes a notation. `quote` is a special token that stands at both ends of a string, instead of a quotation mark.

    Models may forget the first of the two where texts may stand bare.

    With `loose`, a quotation mark ends a string only where a string can end: models forget to escape those inside.

    Every alternative of the pattern takes all it can and gives nothing back, also when the text ends inside a string.
    Hence a hostile text is read only once.
    """
    special = rf"{re.escape(quote)}(?P<special>.*?)(?:(?P<ended>{re.escape(quote)})|\Z)|" if quote else ""
    word = r"[^\s\"'{}\[\],:<>][^\"'{}\[\],:<>\n]*+" if bare_text else r"[\w.+\-$]++"
    if quote and bare_text:
        unopened = r"[^\s\"'{}\[\],:<>](?:[^{}\[\]:<>\n]{0,200}[^{}\[\],:<>\n])?"
        special += rf"(?P<unopened>{unopened}){re.escape(quote)}(?=\s*+[,}}\]])|"
    double, single = (rf"|{mark}(?!\s*[,:=)\]}}])" if loose else "" for mark in "\"'")
    return Notation(
        re.compile(
            special
            + rf'"(?P<double>(?:[^"\\]++|\\.{double})*+)\\?(?P<doubled>")?'
            + rf"|'(?P<single>(?:[^'\\]++|\\.{single})*+)\\?(?P<singled>')?"
            + rf"|(?P<mark>{marks})|(?P<between>[,:=])|(?P<blank>\s++)|(?P<word>{word})",
            re.DOTALL,
        ),
        quote,
        bare_text,
    )


JSON: Final = notation()
PYTHON: Final = notation(marks=r"[{}\[\]()]", loose=True)


@dataclass(frozen=True, slots=True)
class Scan:
    stop: int
    """Where the value ends, where it can go on no longer, or where the text ends."""
    missing: str
    """The brackets that would end the value. Empty when it is whole."""


def scan(text: str, at: int, how: Notation = JSON) -> Scan:
    """Finds the end of the value that begins at `at` with a bracket."""
    open_brackets: list[str] = []
    position = at
    token = how.token
    while found := token.match(text, position):
        position = found.end()
        kind = found.lastgroup
        if kind in ("double", "single", "special"):
            return Scan(len(text), "".join(reversed(open_brackets)))
        if kind != "mark":
            continue
        mark = found["mark"]
        if closing := _CLOSING.get(mark):
            open_brackets.append(closing)
        elif open_brackets[-1:] != [mark]:
            return Scan(found.start(), "".join(reversed(open_brackets)))
        else:
            open_brackets.pop()
            if not open_brackets:
                return Scan(position, "")
    if how.quote and how.quote.startswith(text[position : position + len(how.quote)]):
        position = len(text)
    return Scan(position, "".join(reversed(open_brackets)))


def parse(text: str, how: Notation = JSON) -> Any:
    """Parses the whole text as one value. BadJson when it is none, whatever is forgiven."""
    try:
        return jsontext.loads(text)
    except BadJson:
        return jsontext.loads(_as_json(text, how))


def _as_json(text: str, how: Notation) -> str:
    written: list[str] = []
    opened: list[int] = []
    """Returns the places of the open brackets in `written`. Those that are known to be objects are negative."""
    position = 0
    while position < len(text):
        found = how.token.match(text, position)
        if not found:
            raise BadJson("not JSON, and nothing like it")
        position = found.end()
        match found.lastgroup:
            case "blank":
                pass
            case "doubled" | "singled" | "ended":
                written.append(_text(found, how))
            case "unopened":
                written.append(jsontext.compact(found["unopened"]))
            case "between":
                written.append(_between(found[0], opened))
            case "mark" if found[0] in _CLOSING:
                opened.append(len(written))
                written.append(_MARKS.get(found[0], found[0]))
            case "mark":
                _close(found[0], written, opened)
            case _:
                is_key = _FOLLOWED_AS_KEY.match(text, position) is not None
                if is_key and written[-1:] not in (["{"], [","]):
                    written.append(",")
                written.append(_word(found[0].strip(), is_key, how))
    return "".join(written)


def _between(mark: str, opened: list[int]) -> str:
    if mark == ",":
        return mark
    if opened:
        opened[-1] = -abs(opened[-1])
    return ":"


def _close(bracket: str, written: list[str], opened: list[int]) -> None:
    """Drops a comma too many, and makes lists of braces without keys: Python's sets, as far as JSON knows."""
    begin = opened.pop() if opened else 0
    if written[-1:] == [","]:
        written.pop()
    if bracket == "}" and 0 < begin < len(written) - 1:
        written[begin], bracket = "[", "]"
    written.append(_MARKS.get(bracket, bracket))


def _text(found: re.Match[str], how: Notation) -> str:
    if (special := found.groupdict().get("special")) is not None:
        return jsontext.compact(special)
    if found.lastgroup == "singled":
        return _string(found["single"])
    inner = found["double"]
    never_escaped = how is not PYTHON and _NEVER_ESCAPED.match(inner)
    return jsontext.compact(unescaped(inner)) if never_escaped else _string(inner)


def unescaped(inner: str) -> str:
    """Returns a text that was put between quotation marks without escaping more than those."""
    return inner.replace('\\"', '"')


def _string(inner: str) -> str:
    return f'"{_ESCAPE.sub(_escape, inner)}"'


def _escape(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "known":
            return found[0]
        case "hex":
            return f"\\u00{found['hex']}"
        case "other":
            return _PYTHONS_ESCAPES.get(found["other"], f"\\\\{found['other']}")
        case _:
            return '\\"'


def _word(word: str, is_key: bool, how: Notation) -> str:
    if is_key:
        return jsontext.compact(word)
    if how.bare_text:
        return jsontext.compact({BARE: word})
    if plain := _LITERALS.get(word):
        return plain
    if number := _NUMBER.fullmatch(word):
        rest = number["power"] or (f".{number['rest'] or 0}" if number["rest"] is not None else "")
        return f"{number['sign']}{number['digits']}{rest}"
    raise BadJson("a word without quotes")
