"""JSON text in and out: orjson, and what it refuses although the world sends it.

The strict parser is always tried first. Only what it refuses takes the slow path: a byte order mark, invalid
UTF-8, `NaN` and `Infinity`, lone surrogates, raw control characters. One bad byte must not lose an answer. The same
path reads whole numbers that no 64 bits hold, of which orjson makes floats: another amount, or somebody else's id.
"""

import json  # noqa: TID251 - the one place that needs the parser which keeps what orjson refuses
import re
from typing import Any

import orjson

from proxy.core.unquoted import has_more_values, unquoted

WRITABLE_DEPTH = 250
"""orjson reads 1024 levels but writes 254: what is to be written again may not be nested deeper than this,
which leaves a few for what we put around it."""

INT64 = range(-(2**63), 2**64)
"""The integers that orjson writes by itself."""

MAX_DIGITS = 4_000
"""Of an integer. To read one takes the square of their number, so Python refuses few more, in words for programmers."""

MAX_VALUES = 1_000_000
"""In one text, with lists, objects and names. The longest conversation has fewer; more of them would hold up everybody
else, for the parser stops for nobody, and fill the memory (S19)."""
MAX_LENIENT = 1 << 20
"""Bytes of a text that is mended. The parser that forgives takes up to twenty times as long as the strict one."""

SHORTEST_BEYOND = 19
"""Digits of the smallest number that may not fit into 64 bits."""
MAX_EXACT = 1 << 20
"""Bytes of a text with such a number. The parser that reads it takes ten times as long, and lets nobody run."""
_LONG, _THIRD_OF_LONG = b"0" * SHORTEST_BEYOND, b"0" * (SHORTEST_BEYOND // 3)
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_PIECE = 1 << 20
"""Of a long text that is looked through at a time: others run in between, and the copy stays small."""
_NUMERIC = b"0123456789.eE+-"
_LONG_WHOLE = re.compile(rb"(?<![\d.eE+-])-?\d{%d,}+(?![.eE])" % SHORTEST_BEYOND)

NESTING = frozenset({dict, list})
"""What a parsed value is nested in. Asked by the exact type, which takes half as long for each value of a request."""


class BadJson(ValueError):
    """Not JSON, whatever is forgiven."""


class TooManyValues(BadJson):
    """More of it than can be read at once."""


def loads(data: bytes | str) -> Any:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return lenient(data)
    return exactly(value, data)


def bounded(data: bytes) -> Any:
    """`loads` for what may be long and comes from strangers."""
    if has_more_values(data, MAX_VALUES):
        raise TooManyValues(f"it holds more than {MAX_VALUES} values, lists, objects and names")
    return loads(data)


def strict(data: bytes | str) -> Any:
    """For those who must know when leniency was needed; raises ValueError."""
    return exactly(orjson.loads(data), data)


quick = orjson.loads
"""`strict` for the path of a token: whoever writes a number of it anew asks `exactly` for it."""


def exactly(value: Any, data: bytes | str) -> Any:
    """The value of this text, or what it should be where whole numbers in it were rounded."""
    text = data if isinstance(data, bytes) else data.encode()
    if not (_has_long_digits(text) and _has_numbers_beyond(text)):
        return value
    if len(text) > MAX_EXACT:
        raise BadJson(
            f"with a whole number beyond 64 bits it may have {MAX_EXACT} bytes: write it as a string"
        )
    return lenient(text)


def _has_long_digits(text: bytes) -> bool:
    """Ten times faster than a pattern, and most texts are done with every third byte; but digits may also stand in
    strings."""
    for at in range(0, len(text), _PIECE):
        piece = text[at : at + _PIECE + SHORTEST_BEYOND]
        if _THIRD_OF_LONG in piece[::3].translate(_AS_ZEROS) and _LONG in piece.translate(_AS_ZEROS):
            return True
    return False


def _has_numbers_beyond(text: bytes) -> bool:
    cut = b""
    for piece in unquoted(text):
        piece = cut + piece
        whole = piece.rstrip(_NUMERIC)
        if _has_some_beyond(whole):
            return True
        cut = piece[len(whole) :][: MAX_DIGITS + 2]  # by its beginning a longer one is beyond, or none
    return _has_some_beyond(cut)


def _has_some_beyond(piece: bytes) -> bool:
    return any(_is_beyond(found[0]) for found in _LONG_WHOLE.finditer(piece))


def _is_beyond(number: bytes) -> bool:
    return len(number) > MAX_DIGITS or int(number) not in INT64


def lenient(data: bytes | str) -> Any:
    """`NaN` and `Infinity` become None. Half characters stay: the other half may be in the next text."""
    if len(data) > MAX_LENIENT:
        raise BadJson(
            f"of more than {MAX_LENIENT} bytes it must be strictly JSON, without NaN, half characters and the like"
        )
    text = (data.decode("utf-8", "replace") if isinstance(data, bytes) else data).removeprefix("\ufeff")
    try:
        return json.loads(text, strict=False, parse_constant=lambda _: None, parse_int=_integer)
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except ValueError as error:
        raise BadJson(str(error)) from None


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadJson(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def dumps(value: Any) -> bytes:
    """Half characters become U+FFFD, integers of any size are written; BadJson only for what is too deep."""
    try:
        return orjson.dumps(value)
    except TypeError:
        if deeper_than(value, WRITABLE_DEPTH):
            raise BadJson("nested too deeply to be written") from None
        return orjson.dumps(_writable(value))


def _writable(value: Any) -> Any:
    """The same value without lone surrogates, and with big integers as the digits they are."""
    match value:
        case str():
            return mend(value)
        case dict():
            return {_writable(key): _writable(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_writable(inner) for inner in value]
        case int() if value not in INT64:
            return orjson.Fragment(str(value))
        case _:
            return value


def written(value: Any) -> orjson.Fragment:
    """Stands for the value wherever it is to be written: what is told more than once is made into text once."""
    return orjson.Fragment(dumps(value))


def compact(value: Any) -> str:
    return dumps(value).decode()


def string(text: str) -> bytes:
    """The JSON literal of one string: the hot path of every streamed delta."""
    try:
        return orjson.dumps(text)
    except TypeError:
        return orjson.dumps(mend(text))


def is_object(text: str) -> bool:
    """Is this text one whole JSON object?

    The two ends are looked at first: a text that is still growing nearly always fails there, for free.
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(loads(text), dict)
    except BadJson:
        return False


def deeper_than(value: Any, limit: int) -> bool:
    """Are more than `limit` lists or objects inside one another? Level by level, so without recursion."""
    layer = [value] if type(value) in NESTING else []
    for _ in range(limit):
        if not layer:
            return False
        outers, layer = layer, []
        for outer in outers:
            for inner in outer.values() if type(outer) is dict else outer:
                if type(inner) in NESTING:
                    layer.append(inner)
    return bool(layer)


def mend(text: str) -> str:
    """Joins the surrogates that meet; what stays alone becomes U+FFFD.

    JSON can say `"\\ud83d"`, Unicode text cannot hold it: Python keeps such a half as a lone surrogate, which no
    encoder accepts.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
