"""The arguments of an earlier call as the JSON object that backends insist on, whatever the model once wrote."""

import orjson

from proxy.core import jsontext

INVALID = "INVALID_JSON"
"""Holds arguments that are no JSON object; models are known to understand it."""

RAW = "_raw"
"""The same where arguments travel as text, since servers parse it and fail on others."""


def as_object(arguments: str) -> orjson.Fragment:
    """Writes the object itself, for dialects that take calls apart."""
    return orjson.Fragment(as_text(arguments, INVALID))


def as_text(arguments: str, held_in: str = RAW) -> str:
    """Keeps an object as the model wrote it: some models prove their thoughts by every byte that came before.

    What is no object is wrapped, `held_in` one under this name, and never repaired; what only a forgiving parser can
    read is written anew.
    """
    try:
        if type(jsontext.quick(arguments)) is dict:
            return arguments
    except ValueError:
        if not arguments.strip():
            return "{}"
        if (mended := _mended(arguments)) is not None:
            return mended
    return jsontext.compact({held_in: arguments})


def _mended(arguments: str) -> str | None:
    try:
        value = jsontext.lenient(arguments)
        return jsontext.compact(value) if isinstance(value, dict) else None
    except jsontext.BadJson:
        return None
