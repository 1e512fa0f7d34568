"""Two tiny formats, and a scanner that is fed in any cut: what the tests of the engine share."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, cycle, islice, pairwise, takewhile
from typing import Any

from proxy.core import jsontext
from proxy.core.markup.candidate import End, Why
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Found, Scanner

TOOLS = Tools({"run": {"type": "object"}, "look": {"type": "object"}})


def tags(opener: str, closer: str, *, dangling: str = "") -> Any:
    """`<call>run look</call>`: names between two tags, nothing else. What cannot become that is none. A question mark
    makes it doubtful."""

    def read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
        inside, found, _ = text[at + len(opener) :].partition(closer)
        if found:
            names = inside.replace("?", "").split()
            calls = tuple(Recovered(name, "{}") for name in names)
            whole = Block(at + len(opener) + len(inside) + len(closer), calls, "?" in inside)
            return whole if names and "!" not in inside else None
        if dangling and ended and not inside:
            return Block(at + len(opener), ())
        return None if "!" in inside else MORE

    return read


PAIR = Format(
    "pair",
    Tier.ALWAYS,
    ("<call>",),
    tags("<call>", "</call>"),
    ("</call>",),
    leftovers=("</call>", "</calls>"),
)
NATIVE = Format("native", Tier.ALWAYS, ("[[",), tags("[[", "]]", dangling="yes"), ("]]",), native=True)
FORMATS = (PAIR, NATIVE)
OPENERS = Openers(FORMATS)
CALL = "<call>run</call>"

Piece = str | tuple[str, list[str]]


def scan(
    pieces: Iterable[str],
    *,
    end: End = End.WHOLE,
    formats: Sequence[Format] = FORMATS,
    counts: list[tuple[str, str]] | None = None,
    tools: Tools = TOOLS,
) -> list[Piece]:
    """Text and blocks in order: adjacent texts are joined, a block is its markup with the names of its calls."""
    out: list[Piece] = []

    def hear(said: Sequence[str | Found]) -> None:
        for one in said:
            if isinstance(one, str):
                out.append(one)
            else:
                assert all(jsontext.is_object(call.arguments) for call in one.calls)
                out.append((one.markup, [call.name for call in one.calls]))

    def count(why: Why, format: Format) -> None:
        if counts is not None:
            counts.append((why.value, format.name))

    scanner = Scanner(Openers(formats), tools, count)
    for piece in pieces:
        if not scanner.holds and scanner.passes(piece):
            out.append(piece)
        else:
            hear(scanner.feed(piece))
    hear(scanner.flush(end))
    assert not scanner.holds
    return joined(out)


def joined(out: Iterable[Piece]) -> list[Piece]:
    together: list[Piece] = []
    for one in out:
        if isinstance(one, str) and together and isinstance(together[-1], str):
            together[-1] += one
        elif one:
            together.append(one)
    return together


def cuts(text: str) -> Iterator[list[str]]:
    """The text whole, in single characters, and in pieces of very different sizes."""
    yield [text]
    yield list(text)
    for first in range(12):
        sizes = islice(cycle((1, 17, 2, 5, 1, 41, 3, 1, 9, 26, 4, 70)), first, None)
        at = takewhile(lambda edge: edge < len(text), accumulate(sizes))
        yield [text[a:b] for a, b in pairwise((0, *at, len(text)))]
