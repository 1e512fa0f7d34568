"""A number of tokens, as far as what a backend says in its place can be one."""

MOST = 2**53 - 1
"""Whoever counts with floating point, JavaScript or our own metrics, is exact up to here."""

NUMBERS = (int, float)


def read(raw: object) -> int:
    """Fractions are cut, and what no count can be (negative, without end, text) is zero."""
    if isinstance(raw, NUMBERS) and 0 < raw <= MOST:
        return raw if type(raw) is int else int(raw)
    return 0
