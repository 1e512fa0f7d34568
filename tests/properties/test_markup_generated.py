"""Calls as each family writes them, with arguments that nobody has chosen, in any cut."""

import re
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.markup import registry
from proxy.core.markup.candidate import End
from proxy.core.markup.formats import LONGEST_FOREIGN, Tools
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Found, Scanner
from tests.properties.examples import examples
from tests.properties.markup_grammars import MAY_STAY_OPEN, WRITERS
from tests.properties.markup_samples import calls, reply, texts
from tests.support.replies import DONE, STOP, chunk
from tests.support.tables import table

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "guests": {"type": "integer"},
        "loop": {"type": "boolean"},
        "places": {"type": "array", "items": {"type": "string"}},
        "filters": {"type": "object"},
    },
}
TOOLS = Tools({"book_table": SCHEMA, "play-song_2": SCHEMA})
OPENERS = Openers(registry.active())

SIGNS = st.sampled_from([*"abcXYZ 0123,.;:!?-_+=()/éß東京😀", "&", "#", "%", " a b "])
WORDS = st.lists(SIGNS, min_size=1, max_size=12).map("".join).filter(lambda text: text == text.strip())
"""Texts that every family can write. Marks and tags in values are in the tables of each family."""
ARGUMENTS = st.fixed_dictionaries(
    {"city": WORDS},
    optional={
        "guests": st.integers(-5, 10**6),
        "loop": st.booleans(),
        "places": st.lists(WORDS, max_size=3),
        "filters": st.dictionaries(st.sampled_from(["a", "b"]), WORDS | st.integers(0, 9), max_size=2),
    },
)
PROSE = st.sampled_from(["", "I will look.\n", "So:\n\n", "Let me check that now. "])


def scanned(pieces: list[str], end: End = End.WHOLE) -> tuple[list[tuple[str, Any]], str]:
    scanner = Scanner(OPENERS, TOOLS, count=lambda *_: None)
    said = [one for piece in pieces for one in scanner.feed(piece)]
    found: list[tuple[str, Any]] = []
    left = ""
    for one in (*said, *scanner.flush(end)):
        if isinstance(one, Found):
            found += [(call.name, jsontext.strict(call.arguments)) for call in one.calls]
        else:
            left += one
    return found, left


UNTYPED = {"MiniMax M3", "FunctionGemma"}
"""Families that write numbers as texts, so that only a schema tells them apart."""


@table("family", WRITERS, ids=list(WRITERS))
def test_what_a_family_writes_is_read_as_it_was_meant(family: str) -> None:
    write = WRITERS[family]

    @examples(25)
    @given(PROSE, st.sampled_from(sorted(TOOLS.schemas)), ARGUMENTS, st.integers(1, 9))
    def one(prose: str, name: str, arguments: dict[str, Any], size: int) -> None:
        assume(name.isidentifier() or family not in ("LFM2", "Llama 4"))
        assume(family not in UNTYPED or not arguments.get("filters"))
        text = prose + write(name, arguments)
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        assert scanned([text]) == scanned(cut) == ([(name, arguments)], prose)

    one()


@table("family", [family for family in WRITERS if family not in ("Mistral, older", "Sarashina")])
def test_two_in_a_row_are_two(family: str) -> None:
    first, second = {"city": "Rome", "guests": 2}, {"city": "Bonn", "loop": True}
    text = "\n".join(WRITERS[family]("book_table", each) for each in (first, second))
    found, left = scanned([*text])
    assert found == [("book_table", first), ("book_table", second)]
    assert not left.strip()


@table("family", MAY_STAY_OPEN)
def test_at_the_end_of_a_reply_the_closer_may_be_missing(family: str) -> None:
    arguments = {"city": "Rome", "guests": 2}
    text = WRITERS[family]("book_table", arguments).removesuffix(MAY_STAY_OPEN[family])
    assert scanned([text]) == scanned([*text])
    found, left = scanned([text])
    assert found == [("book_table", arguments)]
    assert not left.strip()


ENDS = {
    "Kimi K2": "<|tool_call_end|>", "DeepSeek": "<｜tool▁call▁end｜>", "Solar": "<|tool_call:end|>",
    "PLaMo": "<|plamo:end_tool_arguments:plamo|>",
}  # fmt: skip


@table("family", ENDS)
def test_half_of_the_token_that_ends_a_call_is_enough_behind_whole_json(family: str) -> None:
    """The JSON shows by itself that it is whole, and the token is often the one that stops the model, or a part of it
    the stop sequence: what is left of it is markup. Where the output limit has cut, nobody knows that."""
    end = ENDS[family]
    head = WRITERS[family]("book_table", {"city": "Rome"}).partition(end)[0]
    for size in (0, *range(2, len(end))):
        text = f"I look. {head}{end[:size]}"
        assert scanned([text]) == scanned([*text]) == ([("book_table", {"city": "Rome"})], "I look. ")
        assert scanned([text], End.CUT) == ([], text)


WHOLE_WITHOUT = {"one wrapper more": "\n</tool_calls>", "Seed": "\n</seed:tool_call>"}
"""What the output limit may cut off and leave the call whole: it has its own closer, which these stand around. Where a
family has no closer at all, the last bracket of its JSON is the end of the call, and what is cut there is not whole."""


@table("family", list(WRITERS))
def test_of_a_block_that_the_output_limit_has_cut_nothing_is_guessed(family: str) -> None:
    text = WRITERS[family]("book_table", {"city": "Rome", "places": ["Bonn", "Ulm"]})
    whole = len(text) - len(WHOLE_WITHOUT.get(family, ""))
    for size in (*range(1, whole, 5), *range(max(1, whole - 12), whole)):
        assert scanned([text[:size]], End.CUT) == ([], text[:size])


LAST_TAG = re.compile(r"(?:<\|close\|>tools|\]<\]minimax\[>\[)?<[^<>]*>\Z|\[/TOOL_CALL\]\Z")


@table("family", list(WRITERS))
def test_a_closer_too_many_goes_with_the_block(family: str) -> None:
    arguments = {"city": "Rome", "guests": 2}
    text = WRITERS[family]("book_table", arguments)
    if closer := LAST_TAG.search(text):
        for twice in (f"{text}{closer[0]}", f"{text}\n{closer[0]}"):
            for behind in ("", " so"):
                whole = [twice + behind]
                assert scanned(whole) == scanned([*whole[0]]) == ([("book_table", arguments)], behind)


ALONE = {
    "Qwen Coder", "Qwen Coder, bare", "Seed", "Hermes", "Hermes, parameters", "LongCat", "Llama's function",
    "Llama's token", "GLM", "Mistral", "MiniMax M2", "Grok", "MiniCPM", "Harmony", "Harmony's element", "Gemma",
    "FunctionGemma", "Granite 20B", "InternLM", "GigaChat", "GigaChat 3.0", "Inkling", "Solar 2", "arrows", "DSML",
}  # fmt: skip
"""Families in whose blocks a call stands by itself, so that its name decides. Others put several into one wrapper."""
SOON = 256


@table("family", list(WRITERS))
def test_a_call_of_another_tool_is_not_held_to_its_end(family: str) -> None:
    text = WRITERS[family]("look_table", {"city": "Rome and Bonn " * 500})
    scanner = Scanner(OPENERS, TOOLS, count=lambda *_: None)
    longest = given = 0
    for at, sign in enumerate(text, 1):
        given += sum(len(one) for one in scanner.feed(sign) if isinstance(one, str))
        longest = max(longest, at - given)
    assert longest <= (SOON if family in ALONE else LONGEST_FOREIGN)


@table("family", list(WRITERS))
def test_a_call_that_ends_the_reply_is_meant_within_a_thought_that_nothing_has_ended(family: str) -> None:
    text = f"<think>I look.\n{WRITERS[family]('get_weather', {'city': 'Rome'})}"
    for pieces in ([text], [*text]):
        got = reply(pieces)
        assert (calls(got), "".join(texts(got)).strip()) == (["get_weather"], "I look.")


VERBATIM = (
    "Qwen Coder", "Qwen Coder, bare", "Seed", "GLM", "Hunyuan", "DSML", "Kimi K3", "MiniMax M2", "MiniMax M3",
    "Anthropic", "Dots", "Muse", "Step 3", "Solar 2", "Grok", "MiniCPM",
)  # fmt: skip
"""Families that write texts as they are, so that a text may hold their tags."""


@table("family", VERBATIM)
def test_what_a_model_copies_makes_no_call_by_the_tags_that_it_holds(family: str) -> None:
    """The text closes its own call and holds another one, behind which stand the closers that the model then writes."""
    before, behind = WRITERS[family]("book_table", {"city": "COPY"}).split("COPY")
    text = f"{before}x{behind}\n{WRITERS[family]('play-song_2', {'city': 'Rome'})}{behind}"
    assert scanned([text]) == scanned([*text]) == ([], text)


NATIVE = {"DSML", "DeepSeek", "DeepSeek, fenced", "Kimi K2", "Solar", "Solar 2", "PLaMo", "Apertus"}
"""Families of special tokens, in which no model rehearses, and Apertus, which calls from within its thoughts."""


@table("family", list(WRITERS))
def test_in_a_thought_that_an_answer_follows_it_is_rehearsed_but_where_special_tokens_say_otherwise(
    family: str,
) -> None:
    thought = f"I look. {WRITERS[family]('get_weather', {'city': 'Rome'})} So."
    got = reply([thought], "reasoning_content", chunk({"content": "Done."}) + STOP + DONE)
    assert calls(got) == (["get_weather"] if family in NATIVE else [])
    assert "".join(texts(got)).startswith("I look." if family in NATIVE else thought)


@table("family", list(WRITERS))
def test_what_calls_another_tool_is_text(family: str) -> None:
    for arguments in ({"city": "Rome"}, {"city": "R" * 300, "guests": 2}):
        text = WRITERS[family]("look_table", arguments) + " so"
        assert scanned([text]) == scanned([*text]) == ([], text)
