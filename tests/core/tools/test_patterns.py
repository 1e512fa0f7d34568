"""S21: no pattern takes time without a bound, whoever wrote it, and honest ones are matched."""

import re
import sys
from timeit import timeit

import pytest

from proxy.core.tools.patterns import MAX_PATTERN, priced
from tests.tables import table


@table(
    ("pattern", "power", "factor"),
    [
        ("^[a-z]+$", 1, 1),
        ("[a-z]+", 2, 1),
        ("a", 1, 1),
        ("^a|b", 1, 2),
        (r"^\d{4}-\d{2}-\d{2}$", 0, 16),
        ("^[a-z]{1,64}$", 0, 64),
        ("^a{2,}$", 1, 1),
        ("^(a|b)(c|d)$", 0, 4),
        ("^(red|green)?$", 0, 4),
        ("^(?:[+-]?x)?$", 0, 4),
        ("^(?P<year>abc)*$", 1, 1),
        (r"^[\]]+[]a]*[^]]$", 2, 1),
        (r"^\(+$", 1, 1),
        ("^a+?b", 1, 1),
    ],
)
def test_the_price_follows_from_what_varies(pattern: str, power: int, factor: int) -> None:
    price = priced(pattern)
    assert price
    assert (price.power, price.factor) == (power, factor)


@table(
    "pattern",
    [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|b){2,9}$",
        "^((a|b))*$",
        "^(a?){20}$",
        "^(?=a)b",
        "(?i)a",
        "(?<=a)b",
        r"^(a)\1$",
        "(",
        "a)",
        "[",
        r"\p{L}",
        "a" * (MAX_PATTERN + 1),
        "a{99999999999999999999}",
    ],
)
def test_what_has_no_bound_or_no_meaning_here_has_no_price(pattern: str) -> None:
    assert priced(pattern) is None


def test_what_is_too_long_is_not_kept_either() -> None:
    """R7: a pattern may be as long as a body, and there are many bodies."""
    pattern = "a" * (MAX_PATTERN + 1)
    before = sys.getrefcount(pattern)
    assert priced(pattern) is None
    assert sys.getrefcount(pattern) == before


def test_a_price_grows_with_the_text() -> None:
    price = priced("^a*b*$")
    assert price
    assert price.steps(9) == 100


@pytest.mark.parametrize("pattern", ["^a*a*$", "a*b", "^(a|a)(a|a)(a|a)a*$"])
def test_the_price_is_no_lie(pattern: str) -> None:
    """Twice the text takes no more than its power says, with room for a slow machine."""
    price = priced(pattern)
    assert price
    assert price.expression.pattern == re.compile(pattern).pattern
    seconds = timeit(lambda: price.expression.search("a" * 200 + "!"), number=1)
    assert seconds < price.steps(201) * 2e-6 + 0.01
