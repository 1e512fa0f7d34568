"""R08: every text of every family's tables through the real scanner, in every kind of cut, with all formats at once.

The families' own tests ask one family at a time. Here the scanner decides who is asked, and when.
"""

from hashlib import blake2s
from itertools import pairwise
from typing import Any

from proxy.core import jsontext
from proxy.core.markup import registry
from proxy.core.markup.candidate import End
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Scanner
from tests.core.markup.families.cases import TABLES
from tests.core.markup.families.driver import TOOLS
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})

CASES: dict[str, tuple[str, list[tuple[str, Any]], str]] = {
    f"{module.__name__.rpartition('test_')[2]}: {name}": (text, calls, left)
    for module in TABLES
    for name, (text, calls, left) in module.CASES.items()
    if all(TOOLS.declared(said) for said, _ in calls)
}
CASES |= {
    f"seed: {name}": (
        text.replace("tool_call>", "seed:tool_call>"),
        calls,
        left.replace("tool_call>", "seed:tool_call>"),
    )
    for name, (text, calls, left) in CASES.items()
    if name.startswith("qwen: ") and "<tool_call>" in text and "tool_call >" not in text
    if "tool_call" not in repr(calls)
}
"""Seed-OSS writes as Qwen does, between tags of its own."""

CASES |= {
    f"llama: {name}": (text, calls, left)
    for name, (text, calls, left) in {
        "a call": ('<function=get_weather>{"city": "Oslo"}</function>', [OSLO], ""),
        "no arguments": ("<function=get_time>{}</function>", [("get_time", {})], ""),
        "prose around": ('Now <function=get_weather>{"city": "Oslo"}</function> ok', [OSLO], "Now  ok"),
        "two in a row": ('<function=get_weather>{"city": "Oslo"}</function>' * 2, [OSLO, OSLO], ""),
        "on lines": ('<function=get_weather>\n{\n  "city": "Oslo"\n}\n</function>', [OSLO], ""),
        "nested": (
            '<function=get_weather>{"city": "Oslo", "filters": {"a": [1, {"b": null}]}}</function>',
            [("get_weather", {"city": "Oslo", "filters": {"a": [1, {"b": None}]}})],
            "",
        ),
        "escapes": (
            '<function=write_file>{"path": "a\\\\b", "content": "say \\"hi\\"\\n"}</function>',
            [("write_file", {"path": "a\\b", "content": 'say "hi"\n'})],
            "",
        ),
        "a closer in a string": (
            '<function=write_file>{"path": "x", "content": "</function>"}</function>',
            [("write_file", {"path": "x", "content": "</function>"})],
            "",
        ),
        "unicode": (
            '<function=get_weather>{"city": "Tromsø 😀"}</function>',
            [("get_weather", {"city": "Tromsø 😀"})],
            "",
        ),
        "types are JSON's": (
            '<function=get_weather>{"city": "1", "days": 2, "metric": true}</function>',
            [("get_weather", {"city": "1", "days": 2, "metric": True})],
            "",
        ),
    }.items()
}
"""The function tag of Llama 3 shares its opener with Qwen, whose tables hold the variants that models get wrong."""

OPENERS = Openers(registry.active())
RANDOM_CUTS = 6


def recovered(pieces: list[str], openers: Openers) -> tuple[list[tuple[str, Any]], str]:
    calls: list[tuple[str, Any]] = []
    left: list[str] = []

    scanner = Scanner(openers, TOOLS, count=lambda why, format: None)
    said = [one for piece in pieces for one in scanner.feed(piece)]
    for one in (*said, *scanner.flush(End.WHOLE)):
        if isinstance(one, str):
            left.append(one)
        else:
            calls.extend(
                (TOOLS.declared(call.name) or "", jsontext.strict(call.arguments)) for call in one.calls
            )
    return calls, "".join(left)


def cuts(name: str, text: str) -> list[list[str]]:
    """Whole, by character, and at places that look random and are the same each time."""
    ways = [[text], list(text)]
    for way in range(RANDOM_CUTS):
        noise = blake2s(f"{way} {name}".encode()).digest()
        edges = sorted({0, len(text), *(place * len(text) // 256 for place in noise[:5])})
        ways.append([text[a:b] for a, b in pairwise(edges)])
    return ways


@table("name", CASES, ids=CASES)
def test_every_case_in_every_cut(name: str) -> None:
    text, calls, left = CASES[name]
    named = [(TOOLS.declared(said) or "", arguments) for said, arguments in calls]
    for pieces in cuts(name, text):
        assert recovered(pieces, OPENERS) == (named, left), pieces


def test_there_are_enough_of_them() -> None:
    """At least a dozen texts with calls for each family that is always looked for."""
    always = ("deepseek", "dsml", "glm", "hermes", "kimi", "mistral", "qwen", "seed")
    counts = {
        family: sum(name.startswith(f"{family}: ") and bool(CASES[name][1]) for name in CASES)
        for family in always
    }
    assert min(counts.values()) >= 12, counts
