"""What single characters and places fit, by a pattern's tree: the part of a match that never goes back."""

import re
from re import _constants as c  # type: ignore[attr-defined]  # the only place where the meaning of a pattern can be had
from typing import Any


def alike(text: str, flags: int) -> str:
    return text.lower() if flags & re.IGNORECASE else text


def at_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def at_line_end(text: str, at: int) -> bool:
    return at == len(text) or text[at] == "\n"


def at_boundary(text: str, at: int, flags: int) -> bool:
    before = at > 0 and _is_word(text[at - 1], flags)
    behind = at < len(text) and _is_word(text[at], flags)
    return before != behind


def _is_word(char: str, flags: int) -> bool:
    return (char.isalnum() or char == "_") and (not flags & re.ASCII or char.isascii())


def fits(op: Any, argument: Any, char: str, flags: int) -> bool:
    if op is c.ANY:
        return bool(flags & re.DOTALL) or char != "\n"
    forms = {char, char.lower(), char.upper(), char.swapcase()} if flags & re.IGNORECASE else {char}
    if op is c.LITERAL:
        return any(form == chr(argument) for form in forms)
    if op is c.NOT_LITERAL:
        return all(form != chr(argument) for form in forms)
    negated = argument[0][0] is c.NEGATE
    inside = any(_is_in(item, form, flags) for item in argument[negated:] for form in forms if len(form) == 1)
    return inside != negated


def _is_in(item: Any, char: str, flags: int) -> bool:
    op, argument = item
    if op is c.LITERAL:
        return char == chr(argument)
    if op is c.RANGE:
        return argument[0] <= ord(char) <= argument[1]
    ascii_only = flags & re.ASCII and not char.isascii()
    name = str(argument)
    fits = {
        "DIGIT": char.isdecimal() and not ascii_only,
        "SPACE": char.isspace() and not ascii_only,
        "WORD": _is_word(char, flags),
    }[name.rpartition("_")[2]]
    return fits != ("_NOT_" in name)
