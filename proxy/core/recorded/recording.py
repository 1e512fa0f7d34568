"""An exchange as data: all that is needed to have the same events again, and what was noted of it besides.

Times are seconds since the request began.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from proxy.core.recorded.blobs import Data, JsonData, JsonList
from proxy.core.recorded.faults import RecordedFault

VERSION = 1

MOST_SECONDS = 1e11
"""Far beyond any date: whoever writes more into a file means none."""

Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]
Digits = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""The random part of an id."""

SurfaceName = Literal["responses", "compact", "input_tokens", "chat", "native"]
FramingName = Literal["sse", "socket", "log"]
Passed = tuple[Seconds, Data]
"""Bytes, and when they passed."""


@dataclass(slots=True)
class RecordedAttempt:
    """One POST to a backend."""

    why: str
    backend: str
    model: str
    """By the backend's name."""
    profile: dict[str, Any]
    """All fields of it, with what was learned of the model."""
    url: str
    headers: dict[str, str]
    body: Data
    key: Literal["own", "client", "none"] = "none"
    """Whose key went along."""
    forwards: bool = False
    """Does the backend get the keys of clients?"""
    began: Seconds = 0.0
    place: Seconds | None = None
    head: Seconds | None = None
    first_byte: Seconds | None = None
    first_text: Seconds | None = None
    ended: Seconds | None = None
    status: int | None = None
    answer_headers: dict[str, str] = field(default_factory=dict)
    failure: RecordedFault | None = None
    """What ended it from outside of the reply."""
    told: bool = False
    """Is the failure to be taken as it was told, because the words that it was read from are masked?"""
    reads: list[Passed] = field(default_factory=list)


@dataclass(slots=True)
class RecordedKnown:
    """What was found of that which the request names: see `Known`."""

    previous: str | None = None
    conversation: str | None = None
    references: list[str] = field(default_factory=list)
    response: str = ""
    stores: bool = False
    history: JsonList = b"[]"
    items: dict[str, JsonData] = field(default_factory=dict)
    memos: dict[str, Data] = field(default_factory=dict)


@dataclass(slots=True)
class Options:
    """The settings that decide how answers of the Responses API look."""

    events: Literal["auto", "extended", "standard"] = "auto"
    message_first: bool = False
    stores: bool = False
    background: bool = False


@dataclass(slots=True)
class RecordedVerdict:
    """What a check of a call's arguments has found that took long. How long depends on the machine, and on what it had
    checked before."""

    tool: str
    size: Annotated[int, Field(ge=0)]
    """Characters of the arguments."""
    code: str = ""
    """Empty where nothing was wrong."""
    message: str = ""
    path: str = ""
    remark: bool = False
    gave_up: bool = False
    """Did nobody wait for it, nor for those on what the reply went on to say?"""


@dataclass(slots=True)
class Conditions:
    """What an answer depends on besides the request."""

    tenant: dict[str, Any]
    """Its rules."""
    options: Options = field(default_factory=Options)
    real_model: str | None = None
    """The model, for which the client may have another name."""
    hosted_tools: list[str] = field(default_factory=list)
    """The types of tools of which it was known that the backend runs them itself."""
    known: RecordedKnown | None = None
    digits: list[Digits] = field(default_factory=list)
    """The random parts of its ids, as they were drawn."""
    dates: list[Seconds] = field(default_factory=list)
    """As they were asked for."""
    signs: list[Annotated[int, Field(ge=0)]] = field(default_factory=list)
    """Signs of life in the stream: how many reads had come before each."""
    verdicts: list[RecordedVerdict] = field(default_factory=list)
    """Verdicts on calls that took long to check, in their order."""


@dataclass(slots=True)
class RecordedRequest:
    """What a client asked."""

    request_id: str
    surface: SurfaceName
    transport: Literal["http", "websocket"]
    framing: FramingName | None
    """None if there was no stream."""
    method: str
    path: str
    headers: dict[str, str]
    body: Data | None
    """None if it never came."""
    date: Seconds
    conditions: Conditions


@dataclass(slots=True)
class RecordedEnd:
    """What came of it."""

    status: int
    seconds: Seconds
    answer: JsonData | None = None
    """The answer to a client that does not stream."""
    fault: RecordedFault | None = None
    not_stored: str | None = None
    """Why it could not be kept, as the client was told."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Those of the line in the log."""
    remarks: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Recording:
    proxy: str
    """The version that has written it."""
    content: Literal["keep", "masked"]
    cut: bool
    """Is something missing, because there was no room for it?"""
    request: RecordedRequest
    attempts: list[RecordedAttempt]
    frames: list[Passed]
    """What the client was sent, as a stream."""
    end: RecordedEnd
    covered: bool = False
    """Has a key that was told in many pieces got an x for each letter? Other letters may be held back elsewhere."""
