"""Applies formats to a whole text, and checks what every verdict owes to the scanner."""

from collections.abc import Iterable, Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.markup.formats import Block, Format, Tools, Waiting

Calls = list[tuple[str, Any]]

TOOLS = Tools(
    {
        "get_weather": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "ratio": {"type": "number"},
                "metric": {"type": "boolean"},
                "filters": {"type": "object"},
                "tags": {"type": "array"},
                "unit": {"type": ["string", "null"]},
            },
            "required": ["city"],
        },
        "write_file": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
        "get_time": {"type": "object", "properties": {}},
        "mcp.search-docs": {"type": "object", "properties": {"query": {"type": "string"}}},
        "untyped": {},
    }
)


def recover(
    formats: Iterable[Format], text: str, *, ended: bool = True, tools: Tools = TOOLS
) -> tuple[Calls, str]:
    """The calls that the formats find in the text, and the text that is left."""
    calls: Calls = []
    left: list[str] = []
    at = 0
    while at < len(text):
        block = first_block(formats, text, at, ended, tools)
        if block is None:
            left.append(text[at])
            at += 1
            continue
        assert at < block.end <= len(text)
        calls += [(call.name, jsontext.strict(call.arguments)) for call in block.calls]
        at = block.end
    return calls, "".join(left)


def first_block(
    formats: Iterable[Format], text: str, at: int, ended: bool, tools: Tools = TOOLS
) -> Block | None:
    for format in formats:
        if text.startswith(format.openers, at):
            verdict = format.read(text, at, ended, tools)
            if isinstance(verdict, Block):
                return verdict
    return None


SAMPLED_CUTS = 5
"""Of each text's prefixes the core suite reads so many; the property run reads them all."""


def check_prefixes(
    formats: Sequence[Format], text: str, tools: Tools = TOOLS, *, sampled: bool = False
) -> None:
    """How the text was cut decides nothing: what a prefix settles, the whole text settles in the same way."""
    step = max(1, len(text) // SAMPLED_CUTS) if sampled else 1
    for format in formats:
        for at in range(len(text)):
            if not text.startswith(format.openers, at):
                continue
            settled = None
            for cut in range(at + 1, len(text) + 1, step):
                verdict = format.read(text[:cut], at, False, tools)
                if settled is not None:
                    assert verdict == settled[0], (format.name, text[at:cut])
                elif not isinstance(verdict, Waiting) and text[:cut].startswith(format.openers, at):
                    settled = (verdict,)
            if settled is not None:
                assert format.read(text, at, True, tools) == settled[0], (format.name, text)


def check(formats: Sequence[Format], text: str, calls: Calls, left: str) -> None:
    """The whole text gives these calls and leaves this text, and no prefix of it says otherwise."""
    assert recover(formats, text) == (calls, left)
    check_prefixes(formats, text, sampled=True)
