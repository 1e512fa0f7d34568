"""S21: no pattern takes time without a bound, whoever wrote it, and honest ones are matched."""

import sys
import warnings
from random import Random  # noqa: TID251 - patterns made at random, from a fixed seed

from proxy.core.schemas.patterns import MAX_PATTERN, priced
from tests.growth.engine import Engine
from tests.support.tables import table


@table(
    ("pattern", "steps", "of_longer"),
    [
        ("^[a-z]+$", 38, 68),
        ("[a-z]+", 110, 315),
        ("a", 33, 63),
        ("^a|b", 77, 147),
        (r"^\d{4}-\d{2}-\d{2}$", 28, 38),
        ("^[a-z]{1,64}$", 143, 153),
        ("^[a-z]{1,65535}$", 38, 68),
        ("^a{2,}$", 39, 69),
        ("^(a|b)(c|d)$", 36, 46),
        ("^(red|green)?$", 30, 40),
        ("^(?:[+-]?x)?$", 24, 34),
        ("^(?P<year>abc)*$", 81, 151),
        (r"^[\]]+[]a]*[^]]$", 236, 761),
        (r"^\(+$", 38, 68),
        ("^a+?b", 38, 68),
        ("^a++b", 38, 68),
        ("^(a|b){2,9}$", 4101, 4111),
        (r"^[^@]+@[^@]+\.[^@]+$", 896, 4576),
    ],
)
def test_the_price_follows_from_what_varies(pattern: str, steps: int, of_longer: int) -> None:
    price = priced(pattern)
    assert price
    assert (price.steps(10), price.steps(20)) == (steps, of_longer)


@table(
    "pattern",
    [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|b){2,29}$",
        "^((((a*){2}){2}){2}){2}$",
        "^(a+){,2}{1}*$",
        "^(a*){13}$",
        "^((a|b))*$",
        "^(a?){20}$",
        "^(?=a)b",
        "(?i)a",
        "(?<=a)b",
        r"^(a)\1$",
        "(",
        "a)",
        "[",
        r"\p{Script=Latin}",
        "a" * (MAX_PATTERN + 1),
        r"\p{L}" * 200,  # took 0.6 s to be compiled
        "a{99999999999999999999}",
    ],
)
def test_what_has_no_bound_or_no_meaning_here_has_no_price(pattern: str) -> None:
    assert priced(pattern) is None


def test_what_is_too_long_is_not_kept_either() -> None:
    """E7: a pattern may be as long as a body, and there are many bodies."""
    pattern = "a" * (MAX_PATTERN + 1)
    before = sys.getrefcount(pattern)
    assert priced(pattern) is None
    assert sys.getrefcount(pattern) == before


@table("pattern", ["a{}", "a{٣}", "a{,", "a{3", "{2}", "a{1,b}"])
def test_what_only_looks_like_a_repeat_is_read_as_python_reads_it(pattern: str) -> None:
    assert (priced(pattern) is None) == (pattern == "{2}")


def test_attack_02_only_a_question_mark_was_meant_to_be_no_repeat() -> None:
    """`(…){2}` of what has many ways multiplies the ways; it was taken for one more choice."""
    for pattern in ("^((((a*){2}){2}){2}){2}$", "^(((a*){1,2}){0,2}){,2}$"):
        price = priced(pattern)
        assert price is None or price.steps(30) > 1_000_000


def test_attack_02_nothing_is_said_to_programmers_of_a_pattern_of_strangers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert priced("[[:alpha:]]")
        assert priced("[a||b]")


PIECES = ("a", "b", ".", "[ab]", "[^b]", r"\w", "[]a]", "{}", "{,", "{٣}", "", "^", "$", r"\b")
REPEATS = (
    "*",
    "+",
    "?",
    "{2}",
    "{1,2}",
    "{0,2}",
    "{2,}",
    "{,2}",
    "{,}",
    "{3}",
    "{0}",
    "{0,30}",
    "{3,120}",
    "{}",
)
TEXTS = ("", "a" * 12, "a" * 12 + "!", "ab" * 6, "b" * 11 + "!", "a" * 30 + "!")


def _pattern(random: Random, depth: int) -> str:
    def piece() -> str:
        inside = depth and random.random() < 0.6
        said = (
            f"{random.choice(['(', '(?:'])}{_pattern(random, depth - 1)})"
            if inside
            else random.choice(PIECES)
        )
        if random.random() < 0.6:
            said += random.choice(REPEATS) + random.choice(["", "", "", "?", "+"])
        return said

    branches = random.choice([1, 1, 1, 2, 3])
    return "|".join("".join(piece() for _ in range(random.randrange(1, 4))) for _ in range(branches))


def test_attack_02_the_price_is_no_lie() -> None:
    """Whatever is priced, the engine takes no more steps for it, counted one by one (`tests/growth/engine.py`)."""
    random = Random(2)
    asked = 0
    while asked < 400:
        pattern = random.choice(["^", "^", ""]) + _pattern(random, 2)
        if (price := priced(pattern)) is None:
            continue
        asked += 1
        engine = Engine(price.expression)
        for text in TEXTS:
            if (most := price.steps(len(text))) < 50_000:
                assert engine.count(text, limit=4 * most) <= 2 * most, (pattern, text)
