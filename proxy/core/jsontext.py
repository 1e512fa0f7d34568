"""JSON text in and out: orjson, and what it refuses although clients and backends send it.

The strict parser is always tried first. Only what it refuses takes the slow path: a byte order mark, invalid UTF-8,
`NaN` and `Infinity`, lone surrogates, raw control characters. One bad byte must not lose an answer. The same path reads
whole numbers beyond 64 bits, which orjson turns into floats: that would be another amount, or another id.
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
"""The integers that orjson writes by itself. It reads all others as numbers with a fraction, none of them below
`BEYOND`."""
BEYOND = 2.0**63

MAX_DIGITS = 4_000
"""Digits of an integer. To read one takes time by their square, so Python refuses slightly longer ones, with an error
that is no help to clients."""

MAX_VALUES = 1_000_000
"""Values in one text, with lists, objects and names. The longest conversation has fewer; more would fill the memory and
delay all others, because the parser cannot be interrupted (S19)."""
MAX_LENIENT = 1 << 20
"""Bytes of a text that is mended. The lenient parser takes up to twenty times as long as the strict one."""

SHORTEST_BEYOND = 19
"""Digits of the smallest number that may not fit into 64 bits."""
MAX_EXACT = 1 << 20
"""Bytes of a text with such a number. The parser that reads it takes ten times as long, and nothing else runs
meanwhile."""
_LONG = b"0" * SHORTEST_BEYOND
_THIRD_OF_LONG, _SIXTH_OF_LONG = b"0" * (SHORTEST_BEYOND // 3), b"0" * (SHORTEST_BEYOND // 6)
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_PIECE = 1 << 20
"""A long text is searched in pieces of so many bytes: others run in between, and the copy stays small."""
_NUMERIC = b"0123456789.eE+-"
_LONG_WHOLE = re.compile(rb"(?<![\d.eE+-])-?\d{%d,}+(?![.eE])" % SHORTEST_BEYOND)

NESTING = frozenset({dict, list})
"""The types that hold other values. They are compared exactly, which takes half as long for each value of a request."""


class BadJson(ValueError):
    """This is not JSON, even for the lenient parser."""


class TooManyValues(BadJson):
    """The text holds more values than can be read at once."""


def loads(data: bytes | str, *, exact: bool = True) -> Any:
    """`exact`: are whole numbers beyond 64 bits looked for? Else the caller has seen that there are none, or will."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return lenient(data)
    return exactly(value, data) if exact else value


def bounded(data: bytes, *, exact: bool = True) -> Any:
    """Does as `loads`, for a text from outside that may be long."""
    if has_more_values(data, MAX_VALUES):
        raise TooManyValues(f"it holds more than {MAX_VALUES} values, lists, objects and names")
    return loads(data, exact=exact)


def strict(data: bytes | str) -> Any:
    """Reads only what needs no leniency; raises ValueError for the rest."""
    return exactly(orjson.loads(data), data)


quick = orjson.loads
"""Does as `strict`, for the path of a token. A caller that writes a number of it again takes it from `exactly`."""


def exactly(value: Any, data: bytes | str) -> Any:
    """Returns the value of this text, read again where whole numbers in it were rounded."""
    text = data if isinstance(data, bytes) else data.encode()
    if not (_has_long_digits(text) and _has_numbers_beyond(text)):
        return value
    if len(text) > MAX_EXACT:
        raise BadJson(
            f"with a whole number beyond 64 bits it may have {MAX_EXACT} bytes: write it as a string"
        )
    return lenient(text)


def _has_long_digits(text: bytes) -> bool:
    """Finds long digits twenty times faster than a pattern: for most texts every sixth byte is enough. The digits may
    also stand in strings."""
    for at in range(0, len(text), _PIECE):
        piece = text[at : at + _PIECE + SHORTEST_BEYOND]
        if (
            piece[::6].translate(_AS_ZEROS).find(_SIXTH_OF_LONG) >= 0  # it takes a fifth of the time of `in`
            and piece[::3].translate(_AS_ZEROS).find(_THIRD_OF_LONG) >= 0
            and piece.translate(_AS_ZEROS).find(_LONG) >= 0
        ):
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
    """`NaN` and `Infinity` become None. Lone surrogates stay: the other half may be in the next text."""
    if len(data) > MAX_LENIENT:
        raise BadJson(
            f"of more than {MAX_LENIENT} bytes it must be strictly JSON, without NaN, lone surrogates and the like"
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
    """Lone surrogates become U+FFFD, integers of any size are written. BadJson only for what is nested too deeply."""
    try:
        return orjson.dumps(value)
    except TypeError:
        if deeper_than(value, WRITABLE_DEPTH):
            raise BadJson("nested too deeply to be written") from None
        return orjson.dumps(_writable(value))


def tight(data: bytes) -> bytes:
    """A copy for those who keep it: behind what `dumps` returns lies up to ten times as much unused, as long as it
    lives."""
    return bytes(memoryview(data))


def written(value: Any) -> orjson.Fragment:
    """The value as it is written, to stand so in all that is written with it: what comes again and again, such as an
    agent's tools, is written once."""
    return orjson.Fragment(tight(dumps(value)))


def _writable(value: Any) -> Any:
    """Returns the value without lone surrogates, and with large integers as their digits."""
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


def compact(value: Any) -> str:
    return dumps(value).decode()


quick_string = orjson.dumps
"""Does as `string`, on the path of a token; raises TypeError for lone surrogates."""


def string(text: str) -> bytes:
    """Returns the JSON literal of one string."""
    try:
        return orjson.dumps(text)
    except TypeError:
        return orjson.dumps(mend(text))


def is_object(text: str) -> bool:
    """Is this text one whole JSON object?

    The two ends are checked first: a text that is still growing nearly always fails there, at no cost.
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        return isinstance(loads(text, exact=False), dict)
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


def is_text(text: str) -> bool:
    """Can it be encoded? It cannot with half of a character in it (see `mend`)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mend(text: str) -> str:
    """Joins the surrogates that meet; what stays alone becomes U+FFFD.

    JSON can say `"\\ud83d"`, Unicode text cannot hold it: Python keeps such a half as a lone surrogate, which no
    encoder accepts.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
