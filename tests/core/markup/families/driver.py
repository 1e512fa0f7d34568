"""Applies dialects to a whole text, and checks what every verdict owes to the scanner."""

from collections.abc import Iterable, Sequence
from typing import Any

from proxy.core import jsontext
from proxy.core.markup.formats import MORE, Block, Dialect, Tools

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
    dialects: Iterable[Dialect], text: str, *, ended: bool = True, tools: Tools = TOOLS
) -> tuple[Calls, str]:
    """The calls that the dialects find in the text, and the text that is left."""
    calls: Calls = []
    left: list[str] = []
    at = 0
    while at < len(text):
        block = first_block(dialects, text, at, ended, tools)
        if block is None:
            left.append(text[at])
            at += 1
            continue
        assert at < block.end <= len(text)
        calls += [(call.name, jsontext.strict(call.arguments)) for call in block.calls]
        at = block.end
    return calls, "".join(left)


def first_block(
    dialects: Iterable[Dialect], text: str, at: int, ended: bool, tools: Tools = TOOLS
) -> Block | None:
    for dialect in dialects:
        if text.startswith(dialect.openers, at):
            verdict = dialect.read(text, at, ended, tools)
            if isinstance(verdict, Block):
                return verdict
    return None


SAMPLED_CUTS = 5
"""Of each text's prefixes the core suite reads so many; the property run reads them all."""


def check_prefixes(
    dialects: Sequence[Dialect], text: str, tools: Tools = TOOLS, *, sampled: bool = False
) -> None:
    """How the text was cut decides nothing: what a prefix settles, the whole text settles in the same way."""
    step = max(1, len(text) // SAMPLED_CUTS) if sampled else 1
    for dialect in dialects:
        for at in range(len(text)):
            if not text.startswith(dialect.openers, at):
                continue
            settled = None
            for cut in range(at + 1, len(text) + 1, step):
                verdict = dialect.read(text[:cut], at, False, tools)
                if settled is not None:
                    assert verdict == settled[0], (dialect.name, text[at:cut])
                elif verdict is not MORE and text[:cut].startswith(dialect.openers, at):
                    settled = (verdict,)
            if settled is not None:
                assert dialect.read(text, at, True, tools) == settled[0], (dialect.name, text)


def check(dialects: Sequence[Dialect], text: str, calls: Calls, left: str) -> None:
    """The whole text gives these calls and leaves this text, and no prefix of it says otherwise."""
    assert recover(dialects, text) == (calls, left)
    check_prefixes(dialects, text, sampled=True)
