"""Text in pieces → text and blocks: what is held back and for how long, what it costs, and that no cut matters."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from proxy.core.markup import candidate, judgement, scanner
from proxy.core.markup.candidate import End
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Scanner
from tests.core.markup.scanning import CALL, FORMATS, OPENERS, PAIR, TOOLS, Piece, cuts, scan, tags
from tests.support.tables import table

RUN: Piece = (CALL, ["run"])

CASES: dict[str, tuple[str, list[Piece]]] = {
    "nothing": ("", []),
    "text": ("Hello, world", ["Hello, world"]),
    "R08 a call": (CALL, [RUN]),
    "a call in text": (f"a {CALL} b", ["a ", RUN, " b"]),
    "two calls": (f"{CALL}\n{CALL}", [RUN, "\n", RUN]),
    "two calls in one block": ("<call>run look</call>", [("<call>run look</call>", ["run", "look"])]),
    "names with affixes": ("<call>functions.run:0</call>", [("<call>functions.run:0</call>", ["run"])]),
    "an undeclared name": ("a <call>walk</call> b", ["a <call>walk</call> b"]),
    "a name that is not declared beside one that is": (
        "<call>run walk</call>",
        [("<call>run walk</call>", ["run"])],
    ),
    "a call within an undeclared one": ("<call>walk [[run]]</call>", ["<call>walk [[run]]</call>"]),
    "an undeclared block, then a call": (f"<call>walk</call>{CALL}", ["<call>walk</call>", RUN]),
    "no block": (f"<call>!</call>{CALL}", ["<call>!</call>", RUN]),
    "a call right behind an opener that is text": (f"<call>! {CALL}", ["<call>! ", RUN]),
    "never closed": ("a <call>run", ["a <call>run"]),
    "half an opener": ("a <cal", ["a <cal"]),
    "an opener that is not to be": ("a <cat", ["a <cat"]),
    "half an opener, then a call": (f"<ca{CALL}", ["<ca", RUN]),
    "in a fence": (f"```\n{CALL}\n```\n", [f"```\n{CALL}\n```\n"]),
    "after a fence": (f"```\n{CALL}\n```\n{CALL}", [f"```\n{CALL}\n```\n", RUN]),
    "in a span": (f"a `{CALL}` b {CALL}", [f"a `{CALL}` b ", RUN]),
    "behind an open run": (f"a ` b {CALL} c", ["a ` b ", RUN, " c"]),
    "behind an open run that is closed in the block": (
        "a ` b <call>run ` look</call>",
        ["a ` b <call>run ` look</call>"],
    ),
    "in what may be an info line": (f"``` {CALL}\n", [f"``` {CALL}\n"]),
    "in what was no info line": (f"``` {CALL} `a`", ["``` ", RUN, " `a`"]),
    "a fence after a block": (f"{CALL}\n```\n{CALL}", [RUN, f"\n```\n{CALL}"]),
    "no fence in the line of a block": (f"{CALL}```\n{CALL}", [RUN, "```\n", RUN]),
    "a dangling tag": ("a [[", ["a ", ("[[", [])]),
    "between quotation marks": (f'a "{CALL}" b', [f'a "{CALL}" b']),
    "between those of other languages": (
        f"«{CALL}» »{CALL}« „{CALL}“ “{CALL}” ‘{CALL}’ 「{CALL}」『{CALL}』",
        [f"«{CALL}» »{CALL}« „{CALL}“ “{CALL}” ‘{CALL}’ 「{CALL}」『{CALL}』"],
    ),
    "between tags for code": (
        f"<code>{CALL}</code> <pre>{CALL}</pre>",
        [f"<code>{CALL}</code> <pre>{CALL}</pre>"],
    ),
    "behind a quotation mark only": (f'a "{CALL} b"', ['a "', RUN, ' b"']),
    "behind a quotation mark, at the end": (f'a "{CALL}', ['a "', RUN]),
    "before a quotation mark only": (f'a {CALL}"', ["a ", RUN, '"']),
    "before a tag that is not the closer": (f"<code>{CALL}</cod", ["<code>", RUN, "</cod"]),
    "with blanks between the marks and it": (f'" {CALL} "', ['" ', RUN, ' "']),
    "after a quoted one": (f"'{CALL}' {CALL}", [f"'{CALL}' ", RUN]),
    "two between quotation marks": (f'"{CALL}{CALL}"', [f'"{CALL}{CALL}"']),
    "two on lines between quotation marks": (f'a "{CALL}\n{CALL}" b', [f'a "{CALL}\n{CALL}" b']),
    "in a line of a quote": (f"> {CALL}\n{CALL}", [f"> {CALL}\n", RUN]),
    "in a row of a table": (f"| a | {CALL} |\n\n{CALL}", [f"| a | {CALL} |\n\n", RUN]),
    "doubtful in a line": ("a <call>?run</call>", ["a <call>?run</call>"]),
    "doubtful on a line of its own": ("a\n<call>?run</call>", ["a\n", ("<call>?run</call>", ["run"])]),
    "with punctuation": (f"Never {CALL}, not once. {CALL}", [f"Never {CALL}, not once. ", RUN]),
    "an apostrophe that shifts the spans": (f"don`t `{CALL}` so", [f"don`t `{CALL}` so"]),
    "in a fence behind words": (f"So: ```xml\n{CALL}\n```\n{CALL}", [f"So: ```xml\n{CALL}\n```\n", RUN]),
    "two behind a quotation mark": (f'a "{CALL}\n{CALL} b', ['a "', RUN, "\n", RUN, " b"]),
    "one that is no block behind a quotation mark": (
        f'"{CALL}<call>!</call>" b',
        ['"', RUN, '<call>!</call>" b'],
    ),
    "one and an undeclared one in brackets": (f"({CALL}<call>walk</call>)", ["(", RUN, "<call>walk</call>)"]),
}


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_the_same_is_found_in_every_cut(text: str, expected: list[Piece]) -> None:
    for pieces in cuts(text):
        assert scan(pieces) == expected


def test_text_that_stops_without_an_end_is_never_guessed() -> None:
    for pieces in cuts("a [["):
        assert scan(pieces, end=End.CUT) == ["a [["]
    assert scan([CALL], end=End.CUT) == [RUN]


# ── what is held back ──


class Watched:
    """A scanner and what it has said so far."""

    def __init__(self, formats: tuple[Format, ...] = FORMATS) -> None:
        self.scanner = Scanner(Openers(formats), TOOLS, count=lambda *_: None)

    def feed(self, *pieces: str) -> list[object]:
        return [one for piece in pieces for one in self.scanner.feed(piece)]


def test_only_a_suffix_that_may_become_an_opener_is_held() -> None:
    watched = Watched()
    assert watched.feed("a < b") == ["a < b"]
    assert watched.feed("a <ca") == ["a "]
    assert watched.feed("t") == ["<cat"]
    assert not watched.scanner.holds


def test_text_about_an_opener_is_released_before_it_ends() -> None:
    watched = Watched()
    assert watched.feed("The tag <call> begins a call!") == ["The tag "]
    assert "".join(map(str, watched.feed(" And then", " some more"))).startswith("<call> begins a call!")


def test_what_follows_a_block_is_not_held() -> None:
    watched = Watched()
    assert watched.feed(f"{CALL} and")[1:] == [" and"]


def late(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """Its closer counts only if something else than white space follows, and not a bracket."""
    closed = text.find(")", at)
    after = text[closed + 1 :].lstrip()
    if closed < 0 or not after:
        return Block(closed + 1, (Recovered("run", "{}"),)) if ended and closed >= 0 else MORE
    return None if after[0] == "(" else Block(closed + 1, (Recovered("run", "{}"),))


LATE = Format("late", Tier.ALWAYS, ("(",), late, (")",))


def test_a_format_that_must_see_what_follows_is_soon_asked_again() -> None:
    long = "x" * 1000
    watched = Watched((LATE,))
    assert watched.feed(f"({long})") == []
    assert watched.feed(" ", "a", "b")[1:] == [" a", "b"]
    for text in (f"({long}) a", f"({long})   (", f"({long})"):
        for pieces in ([text], list(text)):
            assert scan(pieces, formats=(LATE,)) == scan([text], formats=(LATE,))


FENCED = Format(
    "fenced",
    Tier.ALWAYS,
    ("<f>",),
    lambda text, *_: Block(len("<f>```</f>"), (Recovered("run", "{}"),)) if "</f>" in text else MORE,
    ("</f>",),
)


def test_fences_inside_of_markup_do_not_count() -> None:
    text = f"<f>```</f>\n{CALL}"
    for pieces in cuts(text):
        assert scan(pieces, formats=(FENCED, PAIR)) == [("<f>```</f>", ["run"]), "\n", RUN]


NEVER = Format("never", Tier.ALWAYS, ("<call>",), lambda *_: MORE, ("</call>",))
NONE = Format("none", Tier.ALWAYS, ("<call>",), lambda *_: None, ())


def test_the_first_format_that_finds_a_block_wins() -> None:
    other = Format("other", Tier.ALWAYS, PAIR.openers, PAIR.read, PAIR.closers)
    found: list[str] = []
    for formats in ((PAIR, other), (other, PAIR), (NONE, other), (PAIR, NEVER)):
        one = Scanner(Openers(formats), TOOLS, count=lambda *_: None)
        found += [
            said if isinstance(said, str) else said.format.name
            for said in (*one.feed(CALL), *one.flush(End.WHOLE))
        ]
    assert found == ["pair", "other", "other", "pair"]


def test_a_format_that_waits_keeps_those_after_it_waiting_until_the_text_has_ended() -> None:
    assert Watched((NEVER, PAIR)).feed(CALL, " and so on") == []
    assert scan([CALL], formats=(NEVER, PAIR)) == [RUN]
    assert scan([CALL], formats=(NEVER, PAIR), end=End.CUT) == [RUN]


# ── what need not wait ──


def foreign(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """`{name text}`: the text may hold braces that have partners."""
    name = text[at + 1 :].partition(" ")[0]
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "}": -1, "!": 99}.get(text[place], 0)
        if depth > 50:
            return None
        if depth == 0:
            return Block(place + 1, (Recovered(name, "{}"),))
    return None if ended else waiting(tools, [name], len(text) - at)


BRACES = Format("braces", Tier.ALWAYS, ("{",), foreign, ("}",))


def test_a_call_of_no_declared_tool_flows_as_it_comes() -> None:
    watched = Watched((BRACES,))
    assert watched.feed("a {walk", " " * 20) == ["a "]
    assert watched.feed("x" * 10) == ["{walk" + " " * 20 + "x" * 10]
    assert watched.feed("y", "z") == ["y", "z"]
    assert watched.feed("{run } a") == ["{run }"], "what follows a closer closely may be another call"
    assert watched.feed("b" * 70) == [" a" + "b" * 70]
    assert watched.feed("c} {run }") == ["c} "]
    assert watched.scanner.flush(End.WHOLE)[0].markup == "{run }"  # type: ignore[union-attr]


FLOWING: dict[str, tuple[str, list[Piece]]] = {
    "a call within it": (
        "a {walk " + "x" * 40 + "{run } b} {run } c",
        ["a {walk " + "x" * 40 + "{run } b} ", ("{run }", ["run"]), " c"],
    ),
    "it never ends": ("{walk " + "x" * 90 + "{run } b", ["{walk " + "x" * 90 + "{run } b"]),
    "it is none": ("{walk " + "x" * 130 + "! {run } b", ["{walk " + "x" * 130 + "! {run } b"]),
    "it is none, seen behind a closer": (
        "{walk " + "x" * 40 + "{} ! {run } b",
        ["{walk " + "x" * 40 + "{} ! ", ("{run }", ["run"]), " b"],
    ),
    "behind a call": (
        "{run } {walk " + "x" * 90 + "} {run } b",
        [("{run }", ["run"]), " {walk " + "x" * 90 + "} ", ("{run }", ["run"]), " b"],
    ),
    "behind a call that is quoted later": (
        "a <pre>{run }{walk " + "x" * 90 + "} b</pre> {run } c",
        ["a <pre>{run }{walk " + "x" * 90 + "} b</pre> ", ("{run }", ["run"]), " c"],
    ),
    "behind a call that is quoted": (
        "({run }{walk " + "x" * 90 + "}) {run } b",
        ["(", ("{run }", ["run"]), "{walk " + "x" * 90 + "}) ", ("{run }", ["run"]), " b"],
    ),
}


@table(("text", "expected"), FLOWING.values(), ids=FLOWING)
def test_what_flows_is_the_same_in_every_cut(text: str, expected: list[Piece]) -> None:
    whole = scan([text], formats=(BRACES,))
    for pieces in cuts(text):
        assert scan(pieces, formats=(BRACES,)) == whole
    assert "".join(one if isinstance(one, str) else one[0] for one in whole) == text
    assert whole == expected


# ── where openers count ──

WORD = tags("call:", "</call>")
FIRST = replace(
    PAIR,
    first=("call:",),
    read=lambda text, *rest: WORD(text, *rest) if text.startswith("call:") else PAIR.read(text, *rest),
)
EARLY: dict[str, tuple[str, list[Piece]]] = {
    "at the start": ("call:run</call>", [("call:run</call>", ["run"])]),
    "behind blanks": ("\n call:run</call>", ["\n ", ("call:run</call>", ["run"])]),
    "later": ("a call:run</call>", ["a call:run</call>"]),
    "half of it": ("ca", ["ca"]),
    "blanks alone": ("\n ", ["\n "]),
    "another one": (f"\n{CALL} a", ["\n", RUN, " a"]),
    "text": ("calling", ["calling"]),
}


@table(("text", "expected"), EARLY.values(), ids=EARLY)
def test_some_openers_count_at_the_start_only(text: str, expected: list[Piece]) -> None:
    for pieces in cuts(text):
        assert scan(pieces, formats=(FIRST,)) == expected


BEHIND = replace(PAIR, behind=re.compile(r"so:\Z"))


def test_a_format_may_ask_for_what_stands_before_its_opener() -> None:
    for pieces in cuts(f"a {CALL} so:{CALL}{CALL}"):
        assert scan(pieces, formats=(BEHIND,)) == [f"a {CALL} so:", RUN, CALL]


# ── what is left over behind a block ──

LEFT_OVER: dict[str, tuple[str, list[Piece]]] = {
    "its closer once more": (f"a {CALL}\n</call> b", ["a ", (f"{CALL}\n</call>", ["run"]), " b"]),
    "twice more": (f"{CALL}</call></call>", [(f"{CALL}</call></call>", ["run"])]),
    "that of several": (f"{CALL}{CALL}\n</calls>", [RUN, (f"{CALL}\n</calls>", ["run"])]),
    "its opener at the end": (f"{CALL}\n<call>\n", [(f"{CALL}\n<call>\n", ["run"])]),
    "its opener before text": (f"{CALL}\n<call>! so", [RUN, "\n<call>! so"]),
    "a closer behind text": (f"{CALL} a </call>", [RUN, " a </call>"]),
    "half a closer at the end": (f"{CALL}\n</ca", [(f"{CALL}\n</ca", ["run"])]),
    "half a closer before text": (f"{CALL}\n</ca b", [RUN, "\n</ca b"]),
    "one sign": (f"{CALL}\n<", [RUN, "\n<"]),
}


@table(("text", "expected"), LEFT_OVER.values(), ids=LEFT_OVER)
def test_what_is_left_over_goes_with_the_block(text: str, expected: list[Piece]) -> None:
    for pieces in cuts(text):
        assert scan(pieces) == expected


def test_calls_that_are_not_declared_are_left_out_of_a_block_with_others() -> None:
    counts: list[tuple[str, str]] = []
    scan(["<call>run walk go</call>"], counts=counts)
    assert counts == [("omitted", "pair"), ("omitted", "pair")]


# ── limits ──


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate, "MAX_HELD", 64)
    monkeypatch.setattr(judgement, "MAX_HELD", 64)


@pytest.mark.usefixtures("small")
@table("before", ["", "a ` b ", "``` "])
def test_what_is_too_long_is_text(before: str) -> None:
    """Nothing in the window is looked at again; what follows it is."""
    text = before + "<call>run" + " " * 55 + "</call>" + CALL
    for pieces in cuts(text):
        counts: list[tuple[str, str]] = []
        assert scan(pieces, counts=counts)[-1] == RUN or before
        assert "".join(one if isinstance(one, str) else one[0] for one in scan(pieces)) == text
        assert ("capped", "pair") in counts
        assert scan(pieces) == scan([text])


@pytest.mark.usefixtures("small")
def test_a_doubt_that_is_never_settled_makes_a_block_text() -> None:
    text = f"a ` b {CALL}" + " x" * 40 + f"\n\n{CALL}"
    for pieces in cuts(text):
        assert scan(pieces) == [text.removesuffix(CALL), RUN]


@pytest.mark.usefixtures("small")
def test_a_block_that_ends_at_the_limit_is_one() -> None:
    text = "<call>run".ljust(57) + "</call>"
    assert scan([text]) == scan(text) == [(text, ["run"])]


def test_every_fate_is_counted_with_its_format() -> None:
    counts: list[tuple[str, str]] = []
    scan([f"<call>! <call>walk</call> '{CALL}' [[{CALL}"], counts=counts)
    assert counts == [
        ("released", "pair"),
        ("undeclared", "pair"),
        ("quoted", "pair"),
        ("released", "native"),
    ]


# ── cost ──


class Work:
    """A format that counts the characters it is given to read."""

    def __init__(self, verdict: Verdict, closer: str = "</call>") -> None:
        self.read = 0
        self.times = 0
        self.verdict = verdict
        self.format = Format("work", Tier.ALWAYS, ("<call>",), self._read, (closer,))

    def _read(self, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
        self.read += len(text)
        self.times += 1
        return self.verdict


SIZE = 5_000


@table("verdict", [None, MORE])
@table("unit", ["<call>", "<call></call>", "<call>" + "</call>" * 50, "<call>" + "x" * 1000])
@table("size", [SIZE, 1])
def test_the_reading_is_linear_in_the_text(
    unit: str, verdict: Verdict, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, limit, value in ((candidate, "MAX_HELD", 2048), (candidate, "FREE_READINGS", 64)):
        monkeypatch.setattr(module, limit, value)
    monkeypatch.setattr(scanner, "FREE_WASTE", 4096)
    work = Work(verdict)
    text = unit * (SIZE // len(unit))
    pieces = [text] if size > 1 else list(text)
    assert scan(pieces, formats=(work.format,)) == [text]
    assert work.read < (candidate.READINGS + scanner.WASTE + 4) * SIZE
    assert work.times < SIZE // 10


def test_after_too_many_failures_an_opener_is_text_until_text_has_made_up_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scanner, "FREE_WASTE", 0)
    counts: list[tuple[str, str]] = []
    text = "<call>!" * 3 + CALL + "x" * 1000 + CALL
    for pieces in ([text], list(text)):
        counts.clear()
        assert scan(pieces, counts=counts) == [text.removesuffix(CALL), RUN]
        assert set(counts) == {("released", "pair"), ("unread", "pair")}


def test_plain_text_is_not_read_by_the_tracker_of_code_until_something_looks_like_markup() -> None:
    one = Scanner(OPENERS, TOOLS, count=lambda *_: None)
    for _ in range(scanner.MAX_UNREAD // 7):
        assert one.passes("` text ")
    assert one._code.at == 0


def test_but_never_so_much_is_left_to_be_read_that_it_would_take_long() -> None:
    """F79: the first opener of a long answer must not hold up everybody else."""
    ways: tuple[Callable[[Scanner, str], object], ...] = (
        Scanner.passes,
        Scanner.feed,
        Scanner.passed,
    )
    for take in ways:
        one = Scanner(OPENERS, TOOLS, count=lambda *_: None)
        for _ in range(scanner.MAX_UNREAD):
            take(one, "` text ")
        assert one._code.at >= 6 * scanner.MAX_UNREAD
