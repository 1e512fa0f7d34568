"""attack-01, -05, -11: no regular expression takes more than its text is long, whatever the text.

A new one needs a row in `table_patterns.py`. What is counted are the steps of an engine that goes back as Python's
does (`engine.py`); no clock is read. Besides the text in the row some hundred others are tried, made of the pattern
itself (`inputs.py`). Not seen: what the code around a pattern does with it, such as asking it again at each place;
that is what the table of readers is for.
"""

import re
from itertools import pairwise

import pytest

from tests.growth import found
from tests.growth.engine import Engine
from tests.growth.inputs import compiled, growing, steps, text
from tests.growth.table_patterns import BOUNDED, MADE_LATER, MOST_STEPS, OF_CLIENTS, USED, WORST

MOST_GROWTH = 2.5
"""How much more the double of a text may take."""
LENGTHS = (32, 64, 128)
BOUND = 8
"""What larger bounds are taken for: a run of at most 200 characters looks like one without an end in a short text."""
FIRST, THEN = 12, (24, 48)
TRIED = 6
"""Texts that were the worst at the first length, and are tried at the others."""


def patterns_of(key: str) -> list[re.Pattern[str]]:
    if make := MADE_LATER.get(key):
        return make()
    return found.heard().get(key) or found.said(key)


def checked() -> list[tuple[str, re.Pattern[str], str]]:
    return [
        (key, pattern, how)
        for key in sorted(WORST)
        for pattern in patterns_of(key)
        for how in ([USED[key]] if key in USED else sorted(found.uses(key)))
    ]


def growth(engine: Engine, parts: tuple[str, str, str], how: str, lengths: tuple[int, ...]) -> float:
    counts = [steps(engine, text(*parts, length), how) for length in lengths]
    return max(more / less for less, more in pairwise(counts))


def test_every_pattern_of_the_package_has_a_row() -> None:
    missing = found.keys() - set(WORST) - set(OF_CLIENTS)
    told = [f'"{key}": {_worst(key)},' for key in sorted(missing)]
    assert not missing, "Put these into WORST in tests/growth/table_patterns.py:\n" + "\n".join(told)
    assert set(WORST) | set(OF_CLIENTS) == found.keys(), "rows without a pattern"
    assert not [key for key in WORST if not patterns_of(key)], "rows in MADE_LATER are missing"
    assert not set(found.heard()) - found.keys()


def _worst(key: str) -> tuple[str, str, str] | None:
    """A row to begin with: the worst of the texts that are made of it."""
    for pattern in found.heard().get(key) or found.said(key):
        return growing(compiled(pattern.pattern, pattern.flags), next(iter(found.uses(key))), FIRST)[0]
    return None


def test_no_pattern_takes_more_than_its_worst_text_is_long() -> None:
    grown = []
    for key, pattern, how in checked():
        if key not in BOUNDED:
            times = growth(Engine(pattern, longest_bound=BOUND), WORST[key], how, LENGTHS)
            if times > MOST_GROWTH:
                grown.append((key, how, pattern.pattern, round(times, 1)))
    assert not grown


def test_no_text_made_of_a_pattern_takes_more_than_it_is_long() -> None:
    grown = [
        (key, how, parts)
        for key, pattern, how in checked()
        if key not in BOUNDED
        for parts in [_growing(pattern, how)]
        if parts
    ]
    assert not grown


def _growing(pattern: re.Pattern[str], how: str) -> tuple[str, str, str] | None:
    """A text whose double takes too much."""
    engine = compiled(pattern.pattern, pattern.flags)
    for parts in growing(engine, how, FIRST)[:TRIED]:
        if growth(engine, parts, how, THEN) > MOST_GROWTH:
            return parts
    return None


def test_what_is_bounded_takes_no_more_than_it_may() -> None:
    for key, pattern, how in checked():
        if key in BOUNDED:
            longest, _ = BOUNDED[key]
            assert Engine(pattern).count(text(*WORST[key], longest), how) <= MOST_STEPS, key


@pytest.mark.parametrize(
    ("pattern", "how", "flags"),
    [
        pytest.param(
            r"data:(?P<type>[^;,]*)[^,]*?(?P<base64>;base64)?,(?P<data>.*)",
            "fullmatch",
            re.DOTALL | re.IGNORECASE,
            id="attack-01",
        ),
        pytest.param(r"\b(?:hf_\w{20,}|eyJ[\w-]{5,}(?:\.[\w-]+)+)", "all", 0, id="attack-05"),
        pytest.param(
            r"\s*(?P<fence>```+|~~~+)[^\n`]*\n(?P<inside>.*?)\n?(?P=fence)\s*",
            "fullmatch",
            re.DOTALL,
            id="attack-11 fences",
        ),
        pytest.param(
            r"\+?(?P<sign>-?)0*(?P<digits>\d+)(?:\.(?P<rest>\d*(?:[eE][+-]?\d+)?)|(?P<power>[eE][+-]?\d+))?",
            "fullmatch",
            0,
            id="attack-11 zeros",
        ),
        pytest.param(r"\s*[\[{]\s*(?:\\[nt]|\s)*\\\"", "match", 0, id="attack-11 blanks"),
        pytest.param(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", "all", 0, id="attributes"),
        pytest.param(r"[:._-]?\d+\Z", "all", 0, id="numbers at the end"),
    ],
)
def test_what_was_once_quadratic_would_be_found(pattern: str, how: str, flags: int) -> None:
    assert _growing(re.compile(pattern, flags), how)
