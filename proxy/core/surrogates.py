r"""Half characters: JSON can say `"\ud83d"`, Unicode text cannot hold it.

Python keeps such a half as a lone surrogate, which no encoder accepts. Whoever writes text out mends it first.
"""


def mend(text: str) -> str:
    """Join the halves that meet; what stays alone becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
