"""Log lines: readable on a terminal, JSON everywhere else, and never a key, a prompt or an answer in them (S06).

The proxy logs none of these by design: `fault_facts` of a fault, the place and kind of an exception. Masking and
escaping are a second protection.

The logger is built once, in `proxy.app`, and passed to all that need it. A line costs some microseconds: there is one
`request` line per request and none per chunk. structlog paints the lines for people and is imported for them only: with
`rich`, which it looks for, it takes as much memory as a hundred open streams.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, Protocol, TextIO

from proxy.core import jsontext
from proxy.core.facts import RequestFacts
from proxy.core.masking.redact import masked
from proxy.core.masking.secrets import Secrets
from proxy.core.masking.unseen import UNSEEN, visible
from proxy.shell.ops.request_lines import RequestLines
from proxy.shell.ops.request_remarks import remarks
from proxy.shell.ops.tracebacks import traceback_of

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "console", "json"]
Fields = MutableMapping[str, Any]


class Log(Protocol):
    """What the shell asks of a logger. The core asks for less: see `proxy.core.ledger.Log`."""

    def debug(self, event: str, **fields: Any) -> Any: ...
    def info(self, event: str, **fields: Any) -> Any: ...
    def warning(self, event: str, **fields: Any) -> Any: ...
    def error(self, event: str, **fields: Any) -> Any: ...

    def tell(self, event: str, fields: Mapping[str, Any]) -> Any:
        """Does as `info`, with many fields: to make arguments of them costs as much as the line."""

    def bind(self, **fields: Any) -> "Log": ...
    def is_enabled_for(self, level: int) -> bool: ...


MADE_HERE = frozenset(
    {"event", "level", "timestamp", "request_id", "response_id", "client", "profile", "ending"}
    | {fact for fact, kind in RequestFacts.__annotations__.items() if kind in (int, float, bool)}
)
"""Fields whose values are the proxy's own. They are not searched for keys, which is the most expensive part of a
line."""

REMEMBERED, LONGEST = 1024, 32 * 1024
"""Characters of a text. What clients and backends send may be as long as a body: a line has its beginning, and only
short texts are remembered for the next line (E7, S15)."""


@lru_cache(maxsize=64)
def _made_elsewhere(keys: tuple[str, ...]) -> list[str]:
    """Those of a line's fields that are searched. Nearly every line has the fields of the one before."""
    return [key for key in keys if key not in MADE_HERE]


class Redaction:
    """Masks keys in every value, however deep it is nested. `secrets` are masked wherever they stand; other keys are
    recognised by their form."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._known = Secrets(secrets)
        self._remembered = lru_cache(maxsize=1024)(self._mask_text)

    def __call__(self, fields: Fields) -> Fields:
        for key in _made_elsewhere(tuple(fields)):
            value = fields[key]
            fields[key] = self._masked(value) if type(value) is str else self._mask(value)
        return fields

    def _mask(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masked(str(value))
        if isinstance(value, dict):
            return {key: self._mask(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._mask(inner) for inner in value]
        return value if isinstance(value, int | float | None) else self._masked(str(value))

    def _masked(self, text: str) -> str:
        if len(text) <= REMEMBERED:  # model names and messages come again and again
            return self._remembered(text)
        return self._mask_text(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")

    def _mask_text(self, text: str) -> str:
        return masked(self._known.hidden(text))


def escape_unseen(fields: Fields) -> Fields:
    """Escapes control characters in text from outside, because a terminal obeys them (S15). A traceback keeps its
    lines."""
    for key, value in fields.items():
        fields[key] = "\n".join(map(_seen, value.split("\n"))) if key == "exception" else _seen(value)
    return fields


def _seen(value: Any) -> Any:
    match value:
        case str():
            return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], value)
        case dict():
            return {_seen(key): _seen(inner) for key, inner in value.items()}
        case list():
            return list(map(_seen, value))
        case _:
            return value


DELETE = "\x7f"
"""The one ASCII character that JSON does not escape and a terminal obeys."""


def _explained(fields: Fields) -> Fields:
    """Puts the traceback of an exception in its place."""
    if "exc_info" not in fields:
        return fields
    failure = fields.pop("exc_info")
    if isinstance(failure, tuple):  # as the standard module has it
        failure = failure[1]
    return fields if failure is None else {**fields, "exception": traceback_of(failure)}


class _ForPeople:
    """A request is a sentence, all else its event and its fields."""

    def __init__(self, redact: Redaction, stream: TextIO, *, colors: bool) -> None:
        self._redact = redact
        arrow = "→" if (stream.encoding or "").lower().startswith("utf") else "->"
        self._requests = RequestLines(remarks, colors=colors, arrow=arrow)
        from structlog.dev import ConsoleRenderer

        self._others = ConsoleRenderer(colors=colors, pad_event_to=8)

    def __call__(self, fields: Fields) -> str:
        fields["timestamp"] = f"{datetime.now():%H:%M:%S}"
        shown = escape_unseen(self._redact(_explained(fields)))
        if shown["event"] == "request":
            return self._requests.line(shown)
        return self._others(None, shown["level"], shown)


class _Json:
    """Makes a line for machines."""

    def __init__(self, redact: Redaction) -> None:
        self._redact = redact

    def __call__(self, fields: Fields) -> str:
        fields["timestamp"] = _timestamp()
        line = jsontext.dumps(self._redact(_explained(fields))).decode()
        if (
            line.isascii() and DELETE not in line
        ):  # nearly every line; to search it takes longer than to make it
            return line
        return visible(line)


def _timestamp() -> str:
    nanoseconds = str(time.time_ns())  # to divide so large a number takes twice as long
    return f"{_date_and_time(nanoseconds[:-9])}.{nanoseconds[-9:-3]}Z"


@lru_cache(maxsize=1)
def _date_and_time(seconds: str) -> str:
    """Returns date and time, made once for all lines of a second."""
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%S}"


class _Lines:
    """A log of lines from one level on, each written in one piece, for other processes may write there too."""

    __slots__ = ("_bound", "_least", "_line_of", "_stream")

    def __init__(
        self, stream: TextIO, line_of: Callable[[Fields], str], least: int, bound: Mapping[str, Any]
    ) -> None:
        """`bound`: fields of every line."""
        self._stream = stream
        self._line_of = line_of
        self._least = least
        self._bound = bound

    def debug(self, event: str, **fields: Any) -> None:
        self._write(logging.DEBUG, "debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write(logging.INFO, "info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write(logging.WARNING, "warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._write(logging.ERROR, "error", event, fields)

    def tell(self, event: str, fields: Mapping[str, Any]) -> None:
        self._write(logging.INFO, "info", event, fields)

    def bind(self, **fields: Any) -> "_Lines":
        return _Lines(self._stream, self._line_of, self._least, {**self._bound, **fields})

    def is_enabled_for(self, level: int) -> bool:
        return level >= self._least

    def _write(self, level: int, name: str, event: str, fields: Mapping[str, Any]) -> None:
        if level >= self._least:
            line = self._line_of({"timestamp": "", "level": name, "event": event, **self._bound, **fields})
            if self._stream.closed:  # by whoever ran the proxy within a program of their own
                return
            try:
                self._stream.write(f"{line}\n")
                self._stream.flush()
            except OSError:
                return  # a full disk, or a reader that has gone: no request fails for want of its line


def make_log(
    level: LogLevel = "info",
    format: LogFormat = "auto",
    *,
    secrets: Iterable[str] = (),
    stream: TextIO = sys.stderr,
    colors: bool = True,
) -> Log:
    """`colors`: may a terminal have them?"""
    console = format == "console" or (format == "auto" and stream.isatty())
    redact = Redaction(secrets)
    line_of = _ForPeople(redact, stream, colors=colors and stream.isatty()) if console else _Json(redact)
    return _Lines(stream, line_of, logging.getLevelNamesMapping()[level.upper()], {})


class LibraryLines(logging.Handler):
    """Gives the lines that libraries log through the standard module the form of our own, with the template of their
    words at most: the words may quote a head, a handshake or a body that the library could not read."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning(
            "library",
            logger=record.name,
            place=f"{record.filename}:{record.lineno}",
            message=record.msg if record.args else None,  # a template; without arguments it may hold anything
            exc_info=record.exc_info,
        )
