"""The engine that counts finds what Python's own finds, and its counts grow as that one's time does."""

import re
from random import Random  # noqa: TID251 - patterns made at random, from a fixed seed
from re import _parser  # type: ignore[attr-defined]

import pytest

from tests.growth.engine import Counted, Engine

SINGLE = ("a", "b", "c", " ", ".", "[ab]", "[^a]", r"\w", r"\s", r"\D", "[a-c]", "[^\\d b]")
PLACES = ("^", "$", r"\b", r"\B", r"\Z", r"\A")
GROUPS = ("(%s)", "(?:%s)", "(?>%s)", "(?=%s)", "(?!%s)", "(?<!b)%s", "(?<=a)%s", "(?i:%s)")
REPEATS = ("*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{,2}")
FLAGS = (0, 0, re.IGNORECASE, re.MULTILINE, re.DOTALL, re.ASCII)


def _alternatives(random: Random, depth: int) -> str:
    branches = random.choice([1, 1, 1, 2, 3])
    return "|".join(
        "".join(_piece(random, depth) for _ in range(random.randrange(1, 4))) for _ in range(branches)
    )


def _piece(random: Random, depth: int) -> str:
    kind = random.random()
    if kind < 0.1:
        return random.choice(PLACES)
    grouped = depth and kind < 0.5
    said = random.choice(GROUPS) % _alternatives(random, depth - 1) if grouped else random.choice(SINGLE)
    try:
        empty = _parser.parse(said).getwidth()[0] == 0
    except re.error:
        return ""
    # Python's engine has bugs of its own where nothing is repeated, and in possessive groups.
    if empty or said.startswith("(?<") or random.random() < 0.5:
        return said
    return said + random.choice(REPEATS) + random.choice(["", "?"] if grouped else ["", "", "?", "+"])


def test_it_finds_what_python_finds() -> None:
    random = Random(1)
    compared = 0
    while compared < 6_000:
        said = _alternatives(random, 2)
        if random.random() < 0.1:
            said = f"(?P<x>{said})-?(?P=x)"
        try:
            pattern = re.compile(said, random.choice(FLAGS))
        except re.error:
            continue
        engine = Engine(pattern)
        for _ in range(2):
            text = "".join(random.choice("abcABé \n1-") for _ in range(random.randrange(9)))
            found = {
                "match": [one.span() for one in [pattern.match(text)] if one],
                "fullmatch": [one.span() for one in [pattern.fullmatch(text)] if one],
                "search": [one.span() for one in [pattern.search(text)] if one],
                "all": [one.span() for one in pattern.finditer(text)],
            }
            for how, spans in found.items():
                compared += 1
                assert engine.spans(text, how) == spans, (said, pattern.flags, text, how)


@pytest.mark.parametrize(
    ("pattern", "how", "text", "growth"),
    [
        ("[a-z]+", "all", "a", 2),
        (r"\s+$", "search", " ", 4),
        (r"\s+$", "match", " ", 2),
        (r"\s++x", "search", " ", 4),
        (r"(?<!\s)\s++x", "search", " ", 2),
        ("a*a*b", "match", "a", 4),
        ("a*a*a*b", "match", "a", 8),
        ("[^;,]*[^,]*?(;x)?,", "fullmatch", "a", 4),
        (r"0*(\d+)x", "match", "0", 4),
        (r"(?:0(?=\d))*+(\d++)x", "match", "0", 2),
    ],
)
def test_its_counts_grow_as_the_work_does(pattern: str, how: str, text: str, growth: float) -> None:
    engine = Engine(re.compile(pattern))
    counts = [engine.count(text * times + "!", how) for times in (50, 100)]
    assert growth * 0.8 <= counts[1] / counts[0] <= growth * 1.2


def test_what_has_no_end_is_given_up() -> None:
    with pytest.raises(Counted):
        Engine(re.compile("(a+)+$")).count("a" * 40 + "!", "match", limit=10_000)


def test_large_bounds_can_be_taken_for_small_ones() -> None:
    bounded = re.compile("[ab]{0,200}c{20,}")
    assert Engine(bounded, longest_bound=4).count("a" * 100) < 1_500
    assert Engine(bounded).count("a" * 100) > 10_000


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="teach the growth guard"):
        Engine(re.compile(r"(a)?(?(1)b|c)"))
