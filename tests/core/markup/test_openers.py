"""All openers as one pattern: what stands somewhere, what may still become one, and who may read it."""

from collections.abc import Sequence

from proxy.core.markup import registry
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.openers import Openers
from tests.support.tables import table


def format(name: str, openers: tuple[str, ...], closers: tuple[str, ...] = ()) -> Format:
    return Format(name, Tier.ALWAYS, openers, lambda *_: None, closers)


SHORT = format("short", ("<call",), ("/>", ">>"))
LONG = format("long", ("<calls>", "[x]"))
BOTH = format("both", ("[x]", "<call"), (">",))
OPENERS = Openers((SHORT, LONG, BOTH))


@table(
    ("text", "start", "literal"),
    [
        ("a <call b", 2, "<call"),
        ("a <calls> b", 2, "<calls>"),
        ("a <calls b", 2, "<call"),
        ("a [x] <call", 2, "[x]"),
        ("a <<call ", 3, "<call"),
    ],
)
def test_the_longest_opener_that_stands_first_is_found(text: str, start: int, literal: str) -> None:
    for growing in (False, True):
        assert OPENERS.find(text, 0, growing) == (start, OPENERS.readers(literal))
        assert OPENERS.opener_at(text, start, growing) == (start, OPENERS.readers(literal))
        assert OPENERS.opener_at(text, 0, growing) is None


@table("text", ["a < b", "[y] <cal ", ""])
def test_no_opener_is_found_where_none_stands(text: str) -> None:
    assert OPENERS.find(text, 0, False) is OPENERS.find(text, 0, True) is None


@table("suffix", ["<", "<c", "<cal", "<calls", "[", "[x", "<call"])
def test_the_beginning_of_an_opener_is_found_only_at_the_end(suffix: str) -> None:
    assert OPENERS.find(f"text {suffix}", 0, True) == (5, None)
    whole = (5, OPENERS.readers("<call")) if suffix.startswith("<call") else None
    assert OPENERS.find(f"text {suffix}.", 0, True) == whole
    assert OPENERS.find(f"text {suffix}", 0, False) == whole


@table("whole", ["<calls>", "[x]"])
def test_a_whole_opener_grows_no_more(whole: str) -> None:
    assert OPENERS.find(whole, 0, True) == (0, OPENERS.readers(whole))


FIRST = Openers(
    (SHORT, Format("early", Tier.ALWAYS, ("<early>",), lambda *_: None, (), first=("to=", "-> ")))
)


@table(
    ("text", "growing", "found"),
    [("to=x", True, "early"), ("-> x", True, "early"), ("-", True, None), ("t", True, None), ("t", False, ""),
     ("", True, ""), ("x", True, ""), ("<call", True, "")],
)  # fmt: skip
def test_some_openers_count_at_the_start_only(text: str, growing: bool, found: str | None) -> None:
    assert FIRST.first
    assert not OPENERS.first
    opener = FIRST.first_at(f"\n{text}", 1, growing)
    if found == "":
        assert opener is None
    else:
        assert opener is not None
        assert opener.start == 1
        assert (opener.readers and opener.readers.formats[0].name) == found
    assert FIRST.find("to=", 0, True) is None


@table(("literal", "names"), [("<call", "short both"), ("<calls>", "short long both"), ("[x]", "long both")])
def test_who_has_an_opener_that_begins_like_it_may_read_it_in_their_order(literal: str, names: str) -> None:
    assert [one.name for one in OPENERS.readers(literal).formats] == names.split()


def test_every_place_where_a_closer_ends_is_found_even_within_another() -> None:
    readers = OPENERS.readers("<call")
    assert readers.closed is not None
    assert readers.reach == 2
    assert [found.end() for found in readers.closed.finditer("<call a> b/>>")] == [8, 12, 13]


def test_without_closers_there_is_none_to_find() -> None:
    alone = Openers((format("alone", ("(",)),))
    assert alone.readers("(").closed is None


@table("formats", [registry.active(), registry.FORMATS])
def test_a_piece_without_a_sign_holds_an_opener_only_if_it_ends_so(formats: Sequence[Format]) -> None:
    openers = Openers(formats)
    for whole in sorted({one for format in formats for one in format.openers}):
        for size in range(1, len(whole) + 1):
            piece = f"text {whole[:size]}"
            assert openers.begun.search(piece)
            assert "<" in piece or "[" in piece or piece.endswith(openers.unsigned)


def test_an_opener_that_is_a_word_begins_no_other_word() -> None:
    begun = Openers(registry.active()).begun
    assert begun.search("So f")
    assert begun.search("functools[")
    for text in ("if", "myfunctools[0", "off", "1f"):
        assert begun.search(text) is None


def test_few_texts_end_so() -> None:
    assert sorted(Openers(registry.active()).unsigned)[:3] == ["]", "f", "fu"]
    assert not "Well, this is a sentence.".endswith(Openers(registry.active()).unsigned)
