"""Markup in any text and any cut: nothing is lost, nothing is invented, and no cut matters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.markup import registry
from proxy.core.markup.candidate import End
from proxy.core.markup.formats import Tools
from proxy.core.markup.frame_tokens import ANY
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Found, Scanner
from proxy.core.model import Call, Text
from proxy.core.stream.think import FIRST_CLOSERS, THINK_FORMS
from tests.properties.examples import examples
from tests.support.replies import DONE, STOP, bytewise, chunk, cut, outline, run

TOOLS = Tools(
    {
        "get_weather": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
        "get_time": {"type": "object", "properties": {}},
    }
)
FORMATS = registry.active()
OPENERS = Openers(FORMATS)
EVERYTHING = Openers(registry.FORMATS)
LONGEST = max(len(opener) for format in registry.FORMATS for opener in format.openers)

BLOCKS = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>get_time</tool_call>",
    "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    '<function=get_weather>{"city": "a`b"}</function>',
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_calls_section_end|>",
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}',
    '[TOOL_CALLS][{"name": "get_time", "arguments": {}}]',
    '<｜DSML｜function_calls><｜DSML｜invoke name="get_weather"><｜DSML｜parameter name="days" string="false">3'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    '<function_calls><invoke name="get_weather"><parameter name="city">Rome</parameter></invoke></function_calls>',
    '<minimax:tool_call><invoke name="get_time"></invoke></minimax:tool_call>',
)
TAGS = sorted(
    {opener for format in FORMATS for opener in format.openers}
    | {closer for format in FORMATS for closer in format.closers}
)
THOUGHTS = {*FIRST_CLOSERS, *(form.opener for form in THINK_FORMS)}
MARKS = [
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    " ",
    "    ",
    "> ",
    "- ",
    "# ",
    "\\",
    "<",
    "[",
    "{",
    "}",
    '"',
    "a",
    "é😀",
]

fragments = (
    st.sampled_from(BLOCKS)
    | st.sampled_from(MARKS)
    | st.sampled_from(TAGS)
    | st.sampled_from(["get_weather", "get_time", "functions.get_time:0", '{"city": "Rome"}', "walk"])
)
texts = st.lists(fragments, max_size=14).map("".join)
cuts = st.lists(st.integers(0, 1 << 16), max_size=8)
ends = st.sampled_from([End.WHOLE, End.CUT])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A block of which some part was lost, doubled or replaced."""
    block = draw(st.sampled_from(BLOCKS))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(block)))
        end = draw(st.integers(start, min(len(block), start + 12)))
        instead = draw(st.sampled_from(["", block[start:end] * 2]) | fragments)
        block = block[:start] + instead + block[end:]
    return block


def pieces_of(text: str, at: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in at)})
    return [text[a:b] for a, b in pairwise(edges)]


def scan(pieces: list[str], end: End, openers: Openers = OPENERS) -> list[Any]:
    """Text and blocks in order, adjacent texts joined."""
    out: list[Any] = []

    def hear(said: Sequence[str | Found]) -> None:
        for one in said:
            assert one
            joins = isinstance(one, str) and out and isinstance(out[-1], str)
            out.append(out.pop() + one if joins else one)

    scanner = Scanner(openers, TOOLS, count=lambda *_: None)
    for piece in pieces:
        hear(scanner.feed(piece))
        if scanner._attempt is None:
            assert len("".join(scanner._held)) < LONGEST
    hear(scanner.flush(end))
    assert not scanner.holds
    return out


def source(out: list[Any]) -> str:
    return "".join(one if isinstance(one, str) else one.markup for one in out)


@examples(600)
@given(texts | mutated(), cuts, ends, st.sampled_from([OPENERS, EVERYTHING]))
def test_no_cut_of_the_text_matters(text: str, at: list[int], end: End, openers: Openers) -> None:
    whole = scan([text], end, openers)
    assert scan(pieces_of(text, at), end, openers) == whole
    assert scan(list(text), end, openers) == whole


@examples(600)
@given(texts | mutated(), cuts, ends, st.sampled_from([OPENERS, EVERYTHING]))
def test_text_and_markup_are_what_came(text: str, at: list[int], end: End, openers: Openers) -> None:
    """Nothing is held when all is over, and no more than a marker while no block is open."""
    out = scan(pieces_of(text, at), end, openers)
    assert source(out) == text
    for one in out:
        if isinstance(one, Found):
            assert all(call.name in TOOLS.schemas for call in one.calls)
            assert all(jsontext.is_object(call.arguments) for call in one.calls)


@examples(300)
@given(
    texts | mutated(), st.sampled_from(["content", "reasoning_content"]), st.sampled_from(["stop", "length"])
)
def test_without_a_recovered_call_the_client_gets_what_the_model_said(
    text: str, field: str, finish: str
) -> None:
    got = run([*(chunk({field: piece}) for piece in text), chunk({"content": "."}), chunk({}, finish), DONE])
    got.events()
    parts = [ended.part for ended in got.reply.parts]
    if not any(isinstance(part, Call) for part in parts):
        said = "".join(getattr(part, "text", "") for part in parts)
        shown = "" if field == "reasoning_content" and text.isspace() else text  # nobody gets a blank thought
        assert said == f"{shown}."
    for part in parts:
        if isinstance(part, Call):
            assert jsontext.is_object(part.arguments)


@examples(200)
@given(texts, texts, cuts)
def test_f32_no_cut_of_the_bytes_matters(thought: str, text: str, at: list[int]) -> None:
    data = chunk({"reasoning_content": thought}) + chunk({"content": text}) + STOP + DONE
    whole = run(data)
    assert outline(run(cut(data, at)).events()) == outline(whole.events())
    again = run(bytewise(data))
    assert [ended.part for ended in again.reply.parts] == [ended.part for ended in whole.reply.parts]


@examples(200)
@given(texts, st.sampled_from(BLOCKS), texts)
def test_no_text_that_a_client_would_see_is_lost(before: str, block: str, after: str) -> None:
    """But for white space that stands by itself beside a call."""
    text = f"{before}\n\n{block}\n\n{after}"
    found = [one for one in scan([text], End.WHOLE) if isinstance(one, str)]
    got = run([chunk({"content": text}), STOP, DONE])
    said = [ended.part.text for ended in got.reply.parts if isinstance(ended.part, Text)]
    thought = any(tag in text for tag in THOUGHTS) or ANY.search(text)
    if not thought and any(isinstance(ended.part, Call) for ended in got.reply.parts):
        assert "".join("".join(said).split()) == "".join("".join(found).split())
