"""The words of a reply: deltas, which promise nothing, and events, which promise order.

A decoder emits *deltas* as they come from the backend: late, split, repeated, interleaved. Only the assembler turns
them into *events*, which are ordered: parts one after another, each started and ended once, and one ending, last. The
text between the start and the end of a part is no event; it is passed on apart (`sink`).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from proxy.core.errors import Fault
from proxy.core.model import Call, ReplyPart, ToolKind, ToolName, Usage

# ── deltas: what decoders say ──


@dataclass(slots=True)
class TextDelta:
    text: str
    logprobs: list[Any] | None = None


@dataclass(slots=True)
class ReasoningDelta:
    text: str


@dataclass(slots=True)
class RefusalDelta:
    text: str


@dataclass(slots=True)
class CallDelta:
    """A fragment of a tool call. Anything may be missing; the assembler finds the call it belongs to."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    freeform: bool = False
    """With the name: the arguments are what the client's own tool takes, and not those of a function that stands for
    it. Only a `CallEndDelta` shows that they are whole."""


@dataclass(slots=True)
class CallEndDelta:
    """The backend said that a call has all its arguments."""

    index: int


@dataclass(slots=True)
class MessageDelta:
    """The message that is being said, if there is one, is over: what is said next is another."""

    annotations: list[Any] = field(default_factory=list)
    """Those of the message that is over."""
    phase: str | None = None
    """That of the next message."""


@dataclass(slots=True)
class HostedDelta:
    """A tool of the backend's own has done something."""

    item: dict[str, Any]


@dataclass(slots=True)
class UsageDelta:
    usage: Usage


class Finish(StrEnum):
    """Why the model stopped, reduced to what changes the ending. The calls themselves show that there are some."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "filter"


STOP = Finish.STOP
"""Needed with every reply: Python 3.11 is slow to find a member in its enumeration."""


@dataclass(slots=True)
class FinishDelta:
    finish: Finish


@dataclass(slots=True)
class EndDelta:
    """The backend said that nothing follows: `[DONE]`, or the end of a complete JSON body."""


END: Final = EndDelta()


@dataclass(slots=True)
class ErrorDelta:
    fault: Fault


Delta = (
    TextDelta
    | ReasoningDelta
    | RefusalDelta
    | CallDelta
    | CallEndDelta
    | MessageDelta
    | HostedDelta
    | UsageDelta
    | FinishDelta
    | EndDelta
    | ErrorDelta
)


class More(Protocol):
    """Takes more of what is open, which is never empty: what deltas would say too, without an object for each token."""

    def text(self, text: str) -> None:
        """Takes text without log probabilities."""

    def reasoning(self, text: str) -> None: ...

    def arguments(self, index: int | None, text: str) -> None:
        """Takes arguments of a call, of which nothing else is told."""


class Decoder(Protocol):
    """Translates a language of backends to deltas; nothing that a backend says makes it raise."""

    def event(self, data: bytes, event: bytes) -> None:
        """Takes one event of a stream."""

    def body(self, data: bytes) -> None:
        """Takes a whole reply that is no stream."""


# ── events: what the assembler promises ──


class PartKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    CALL = "call"
    HOSTED = "hosted"
    SUMMARY = "summary"


@dataclass(slots=True)
class CallHead:
    """What is known of a call when it opens: the client's own words for it."""

    call_id: str
    tool: ToolName
    kind: ToolKind
    backend_id: str | None = field(default=None, compare=False)


class Called(Protocol):
    """The call, or its head while it is being received: for code that treats both alike."""

    @property
    def call_id(self) -> str: ...
    @property
    def tool(self) -> ToolName: ...
    @property
    def kind(self) -> ToolKind: ...
    @property
    def backend_id(self) -> str | None: ...


@dataclass(slots=True)
class ReplyStarted:
    pass


STARTED: Final = ReplyStarted()


@dataclass(slots=True)
class PartStarted:
    kind: PartKind
    call: CallHead | None = None
    """Present exactly when `kind` is CALL."""
    wordless: bool = False
    """No delta will follow: a summary, an item of a hosted tool, or reasoning of which there is nothing but extras."""
    phase: str | None = None
    """That of a message, see `Text`."""


@dataclass(slots=True)
class PartEnded:
    part: ReplyPart
    complete: bool
    """False when the reply was cut inside this part."""


class Ending(StrEnum):
    COMPLETED = "completed"
    MAX_TOKENS = "max_tokens"
    FILTERED = "filtered"
    FAILED = "failed"


COMPLETED = Ending.COMPLETED
"""Needed with every reply, as `STOP`."""


@dataclass(slots=True)
class ReplyEnded:
    ending: Ending
    usage: Usage | None = None
    fault: Fault | None = None
    """Present exactly when `ending` is FAILED."""
    forbidden: str = ""
    """A sentence about the call that was left out because tool_choice does not allow it, if there was one."""


Event = ReplyStarted | PartStarted | PartEnded | ReplyEnded


@dataclass(slots=True)
class Reply:
    """A whole reply, folded from its events: what a non-streaming client, the memory and the log line need."""

    parts: list[PartEnded] = field(default_factory=list)
    ended: ReplyEnded | None = None

    @property
    def calls(self) -> list[Call]:
        return [each.part for each in self.parts if type(each.part) is Call]
