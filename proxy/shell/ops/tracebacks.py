"""Says where the code failed, and with which kind of exception, without the data that it worked on (S06).

An exception's own words hold whatever did not fit, be it a prompt or a key: `KeyError: '…'`, `invalid literal: '…'`.
They are left out, of its causes too; types, numbers of the system and lines of code remain.
"""

import errno
import ssl
import traceback
from collections.abc import Iterator

from proxy.core.errors import Fault

MAX_FAILURES = 8
"""The longest chain or group of exceptions that is shown. Libraries make chains of two or three."""

MAX_FRAMES = 60
"""The innermost frames that are shown. They are enough even for a recursion of a thousand calls."""


class CausesInWords(Exception):
    """Stands for causes by their kinds. They themselves hold frames, and those all of a request."""


def kind_of(failure: BaseException) -> str:
    """Returns the type, with the name that the system or OpenSSL has for it, or the host that was not reached."""
    if isinstance(failure, CausesInWords):
        return str(failure)
    kind = type(failure).__name__
    if isinstance(failure, Fault):
        return f"{kind}: {failure.own_words}" if failure.own_words else kind
    if isinstance(failure, ssl.SSLError):
        reason = getattr(failure, "reason", None)  # one of its own has none
        return f"{kind}: {reason}" if reason else kind
    text = errno.errorcode.get(failure.errno or 0, "") if isinstance(failure, OSError) else ""
    if isinstance(failure, OSError) and (
        host := getattr(failure, "host", "")
    ):  # aiohttp's: as it is configured
        text = f"{text} {host}:{getattr(failure, 'port', '')}".strip()
    return f"{kind}: {text}" if text else kind


def causes(failure: BaseException) -> Iterator[BaseException]:
    """Yields the exception and its causes, one behind the other."""
    current: BaseException | None = failure
    for _ in range(MAX_FAILURES):
        if current is None:
            return
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def traceback_of(failure: BaseException) -> str:
    """Returns the traceback in Python's form, the last cause first."""
    chain = [_text_of(each) for each in causes(failure)]
    return "\n\nwhich led to\n\n".join(reversed(chain))


def _text_of(failure: BaseException) -> str:
    frames = "".join(traceback.format_tb(failure.__traceback__, -MAX_FRAMES))
    text = f"Traceback (most recent call last):\n{frames}{kind_of(failure)}"
    if isinstance(failure, BaseExceptionGroup):
        inner = "\n\n".join(map(traceback_of, failure.exceptions[:MAX_FAILURES]))
        text = f"{text}, in which\n\n{inner}"
    return text
