"""A number of tokens, as far as what a backend says in its place can be one."""

MOST = 2**53 - 1
"""Floating point, as in JavaScript or our own metrics, counts exactly up to here."""

NUMBERS = (int, float)


def read(raw: object) -> int:
    """Cuts fractions; what cannot be a count (negative, infinite, text) is zero."""
    if isinstance(raw, NUMBERS) and 0 < raw <= MOST:
        return raw if type(raw) is int else int(raw)
    return 0
