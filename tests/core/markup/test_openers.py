"""All openers as one pattern: what stands somewhere, what may still become one, and who may read it."""

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
    ("text", "found"),
    [
        ("a <call b", "<call"),
        ("a <calls> b", "<calls>"),
        ("a <calls b", "<call"),
        ("a [x] <call", "[x]"),
        ("a <<call", "<call"),
        ("a < b", None),
        ("[y] <cal ", None),
        ("", None),
    ],
)
def test_the_longest_opener_that_stands_first_is_found(text: str, found: str | None) -> None:
    for pattern in (OPENERS.whole, OPENERS.begun):
        match = pattern.search(text)
        assert (match and match[0]) == found


@table("suffix", ["<", "<c", "<cal", "<calls", "[", "[x", "<call"])
def test_the_beginning_of_an_opener_is_found_only_at_the_end(suffix: str) -> None:
    found = OPENERS.begun.search(f"text {suffix}")
    assert found is not None
    assert found[0] == suffix
    assert OPENERS.may_grow(suffix)
    later = OPENERS.begun.search(f"text {suffix}.")
    assert (later and later[0]) == ("<call" if suffix.startswith("<call") else None)


@table("whole", ["<calls>", "[x]"])
def test_a_whole_opener_grows_no_more(whole: str) -> None:
    assert not OPENERS.may_grow(whole)


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
