"""What every format owes to the scanner, whatever the text."""

import gc
import time
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.markup.formats import Block, Format, Tier, Waiting
from proxy.core.markup.registry import FAMILIES, FORMATS
from tests.core.markup.families.cases import BLOCKS, TEXTS
from tests.core.markup.families.driver import TOOLS, check_prefixes
from tests.support.tables import table

PIECES = sorted({opener for format in FORMATS for opener in format.openers} | {
    closer for format in FORMATS for closer in format.closers
})  # fmt: skip
NOISE = (
    *PIECES,
    "{",
    "}",
    '"',
    "'",
    "<",
    ">",
    "\\",
    "\n",
    "```",
    "[",
    "]",
    " ",
    "=",
    "(",
    ")",
    ",",
    "<|",
    "｜",
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A block, or a text about one, with pieces cut out and noise put in."""
    text = draw(st.sampled_from(BLOCKS + TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from(("", *NOISE))) + text[end:]
    return text


@settings(max_examples=300, deadline=None)
@given(mutated())
def test_no_text_is_too_broken(text: str) -> None:
    """Never an exception, never a block that is longer than the text, never arguments that are no JSON object."""
    for format in FORMATS:
        for at in range(len(text)):
            if not text.startswith(format.openers, at):
                continue
            for ended in (False, True):
                verdict = format.read(text, at, ended, TOOLS)
                assert not (ended and isinstance(verdict, Waiting))
                if isinstance(verdict, Block):
                    assert at < verdict.end <= len(text)
                    assert all(isinstance(jsontext.strict(call.arguments), dict) for call in verdict.calls)


@settings(max_examples=60, deadline=None)
@given(mutated())
def test_the_cuts_decide_nothing(text: str) -> None:
    check_prefixes(FORMATS, text)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(BLOCKS), st.text(max_size=20))
def test_what_stands_before_decides_nothing(block: str, before: str) -> None:
    for format in FORMATS:
        if block.startswith(format.openers):
            alone = format.read(block, 0, True, TOOLS)
            moved = format.read(before + block, len(before), True, TOOLS)
            if isinstance(alone, Block) and isinstance(moved, Block):
                assert (moved.end - len(before), moved.calls) == (alone.end, alone.calls)
            else:
                assert moved is alone


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


HOSTILE = (
    *('{"a": "' + piece for piece in ("\\", '\\"', "x", "</tool_call>")),
    "{",
    "[",
    "'",
    '"',
    " ",
    "\n",
    "<",
    "<function=",
    "<function=x>",
    "<parameter=city>",
    "</parameter>",
    "<parameter=city></parameter>",
    "</function>",
    "<tool_call>",
    "<arg_key>a</arg_key>",
    '<invoke name="x">',
    "<｜DSML｜",
    "<|tool_call_begin|>",
    "<|",
    "]<]minimax[>[<a>",
    "f(",
    "f(a='",
    "' ",
    '<|"|>',
    "<city></city>",
)


@table("format", FORMATS, ids=[format.name for format in FORMATS])
def test_four_times_the_text_takes_four_times_the_time(format: Format) -> None:
    """Over all that is hostile together: what grows with the square would take sixteen times as long."""

    def read(size: int) -> Callable[[], object]:
        beginnings = [block[: len(block) * 2 // 3] for block in BLOCKS if block.startswith(format.openers)][
            :1
        ]
        texts = [
            beginning + piece * (size // len(piece))
            for beginning in (*format.openers[:1], *beginnings)
            for piece in HOSTILE
        ]
        return lambda: [format.read(text, 0, ended, TOOLS) for text in texts for ended in (False, True)]

    ratios = (_seconds(read(8_000)) / max(_seconds(read(2_000)), 1e-3) for _ in range(3))
    assert any(ratio < 9 for ratio in ratios)


def test_every_family_names_its_formats_once() -> None:
    assert len({format.name for format in FORMATS}) == len(FORMATS)
    assert all(format.openers and format.closers for format in FORMATS)


@table("family", FAMILIES, ids=[family.__name__.rpartition(".")[2] for family in FAMILIES])
def test_every_family_shows_its_grammar(family: object) -> None:
    assert (family.__doc__ or "").count("\n    ") >= 1


def test_what_is_on_by_default_begins_with_a_sign_that_prose_seldom_has() -> None:
    """A stream holds back what may become an opener, so no opener may begin like a word, but for one rare word."""
    for format in FORMATS:
        if format.tier is not Tier.OPTIONAL:
            assert {opener[0] for opener in format.openers if opener != "functools["} <= set("<[]")
