"""The arguments of an earlier call as the JSON object that backends with structured calls insist on."""

import orjson

from proxy.core import jsontext

INVALID = "INVALID_JSON"
"""Holds arguments that are no JSON object; models are known to understand it."""


def as_object(arguments: str) -> orjson.Fragment:
    """As the model wrote it wherever it is one: some models prove their thoughts by every byte that came before.

    What is no object is wrapped, never repaired; what only a forgiving parser can read is written anew.
    """
    if not arguments.strip():
        return orjson.Fragment(b"{}")
    try:
        if isinstance(jsontext.strict(arguments), dict):
            return orjson.Fragment(arguments)
    except ValueError:
        if (mended := _mended(arguments)) is not None:
            return mended
    return orjson.Fragment(jsontext.dumps({INVALID: arguments}))


def _mended(arguments: str) -> orjson.Fragment | None:
    try:
        value = jsontext.lenient(arguments)
        return orjson.Fragment(jsontext.dumps(value)) if isinstance(value, dict) else None
    except jsontext.BadJson:
        return None
