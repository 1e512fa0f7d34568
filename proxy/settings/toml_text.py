"""Writes values as TOML, for files of settings that people edit."""

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_letters, digits
from typing import Any

from proxy.core import jsontext

BARE = frozenset(f"{ascii_letters}{digits}_-")
"""Characters of a key that needs no quotes."""


def toml_key(name: str) -> str:
    return name if name and BARE.issuperset(name) else toml_value(name)


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{toml_key(str(key))} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return jsontext.compact(value).replace("\x7f", "\\u007f")  # the one character that JSON writes otherwise


def toml_table(path: Sequence[str], values: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of a table."""
    yield f"[{'.'.join(map(toml_key, path))}]"
    for name, value in values.items():
        yield f"{toml_key(name)} = {toml_value(value)}"
