"""The parts of one reply while they are received: prose, calls, and to which call a fragment belongs.

Prose begins with its first visible character. Models leave blank lines around thoughts and calls, which alone are no
message; in front of words they belong to the text, and stay.

Backends disagree about what identifies a call: an index, an id, both, a fresh id in every chunk, index 0 for all of
them, or nothing. The rules of `Calls` are ordered from what can be trusted to what must be guessed. Where no rule can
decide, the profile does (`call_identity`).
"""

from dataclasses import dataclass, field
from typing import Any

from proxy.core.events import CallDelta, PartKind
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Refusal, ReplyPart, Text, ToolKind
from proxy.core.stream.lifecycle import CALL_MOVES, WAITING, BrokenOrder, CallPhase
from proxy.core.stream.object_tracker import ObjectTracker
from proxy.core.tools.kinds.bridges import BRIDGES, EMPTY_OBJECT
from proxy.core.tools.names import MAX_NAME, NameTable

TEXT, REASONING = PartKind.TEXT, PartKind.REASONING
"""Looked up once, because Python 3.11 is slow to find a member in its enumeration."""

OVER = (CallPhase.ENDED, CallPhase.DROPPED)


# ── prose ──


@dataclass(slots=True)
class Prose:
    """Some text of one kind."""

    kind: PartKind
    text: str
    logprobs: list[Any] | None = None


@dataclass(slots=True)
class OpenProse:
    """The open part of text, while it grows."""

    kind: PartKind
    pieces: list[str] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)
    annotations: list[Any] = field(default_factory=list)
    phase: str | None = None

    def add(self, text: str, logprobs: list[Any] | None) -> None:
        self.pieces.append(text)
        if logprobs:
            self.logprobs += logprobs

    def so_far(self) -> tuple[str, list[Any] | None]:
        """Returns all text and log probabilities of the part so far, each in one piece."""
        return "".join(self.pieces), [*self.logprobs] or None

    def part(self) -> ReplyPart:
        text = "".join(self.pieces)
        if self.kind is TEXT:
            return Text(text, self.logprobs or None, self.annotations or None, self.phase)
        return Refusal(text) if self.kind is PartKind.REFUSAL else Reasoning(text)


class Leading:
    """White space that may become the beginning of a part."""

    __slots__ = ("_ledger", "_prose")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prose: OpenProse | None = None

    def grow(self, kind: PartKind, text: str, logprobs: list[Any] | None) -> OpenProse | None:
        """Adds text of its kind, and returns what can open now."""
        prose = self._prose
        if prose is None or prose.kind is not kind:
            self.drop()
            prose = OpenProse(kind)
        prose.add(text, logprobs)
        self._prose = prose if text.isspace() else None
        return None if self._prose else prose

    def drop(self) -> None:
        """Forgets the white space, because something else comes after it."""
        if self._prose is not None:
            self._prose = None
            self._ledger.odd("blank_prose")


# ── calls ──


@dataclass(slots=True, eq=False)
class CallState:
    """One call while it is being received; under 250 bytes besides its text."""

    index: int | None
    id: str | None = None
    """The backend's id until the call opens, then the id that the client sees."""
    backend_id: str | None = None
    """The backend's id, once the call has opened."""
    type: ToolKind = ToolKind.FUNCTION
    name: str = ""
    """The name that the backend uses; `tools.names` knows the client's."""
    arguments: list[str] = field(default_factory=list)
    """The arguments that were passed on: a list, because adding strings costs quadratic time."""
    pending_args: list[str] = field(default_factory=list)
    """The arguments that came before the call could open."""
    buffered: int = 0
    """The length of the arguments that came before the name."""
    phase: CallPhase = WAITING
    freeform: bool = False
    """Are the arguments what the client's own tool takes, and no JSON object?"""
    over: bool = False
    """Has the backend said that these are all arguments?"""
    tracker: ObjectTracker | None = None
    """Made when something else could open before this call has ended."""

    @property
    def end_emitted(self) -> bool:
        return self.phase is CallPhase.ENDED

    def move(self, phase: CallPhase) -> None:
        if phase not in CALL_MOVES[self.phase]:
            raise BrokenOrder(f"call {self.name!r} from {self.phase.value} to {phase.value}")
        self.phase = phase

    def learn_name(self, name: str) -> None:
        """Takes what came of the name: the whole, a repetition, a longer beginning, or the next fragment (F51)."""
        if name.startswith(self.name):
            self.name = name
        else:
            self.name += name

    def may_open(self, names: NameTable) -> bool:
        """Can the call open? With a declared name it can. Any other may be a fragment, until an argument comes or it is
        too long."""
        settled = self.pending_args or len(self.name) > MAX_NAME or names.settled(self.name)
        return bool(self.name and settled)

    def is_whole(self) -> bool:
        """Are the arguments one complete JSON object, or said to be all?"""
        if self.over or self.freeform:
            return self.over
        if self.tracker is None:
            self.tracker = ObjectTracker()
        return self.tracker.is_whole(self.arguments or self.pending_args)

    def repeats(self, text: str) -> bool:
        """Are these the whole arguments again? Some gateways send them in pieces, and then once more in one."""
        return not self.freeform and self.is_whole() and text.strip() == "".join(self.arguments).strip()

    def lay_aside(self, text: str) -> bool:
        """Keeps arguments for later. True when they replace an empty object that was only a placeholder for them."""
        replaced = self.has_placeholder and bool(text.strip())
        if replaced:
            self.take_pending()
        self.pending_args.append(text)
        return replaced

    @property
    def streams(self) -> bool:
        """May fragments be passed on as they come?"""
        return self.freeform or BRIDGES[self.type].streams

    def conclude(self, *, complete: bool) -> tuple[str, str]:
        """Ends the call. Returns the arguments as the client's tool takes them, and what the client has not seen of
        them."""
        streamed = self.streams and bool(self.arguments)
        text = "".join(self.arguments) or self.take_pending()
        if complete and not self.freeform:
            text = BRIDGES[self.type].from_function(text)
        self.move(CallPhase.ENDED)
        self.arguments.clear()
        return text, "" if streamed else text

    @property
    def has_placeholder(self) -> bool:
        """Is an empty object all that was kept for later? Some backends send it first and the real arguments after
        it."""
        first = self.pending_args[:1]
        return not self.freeform and [text.strip() for text in first] == [EMPTY_OBJECT]

    def take_pending(self) -> str:
        """Returns the arguments that were kept for later, in one piece: they become the first delta."""
        text = "".join(self.pending_args)
        self.pending_args.clear()
        self.tracker = None
        return text


class Calls:
    """All calls of one reply, in the order in which they first came."""

    __slots__ = ("_by_id", "_by_index", "_index_only", "all")

    def __init__(self, identity: str) -> None:
        self.all: list[CallState] = []
        self._by_id: dict[str, CallState] = {}
        self._by_index: dict[int | None, CallState] = {}
        self._index_only = identity == "index"

    def find(self, delta: CallDelta) -> CallState:
        """Returns the call that this fragment belongs to; a new one for its first fragment."""
        if not (delta.id or delta.name) and (here := self._by_index.get(delta.index)):
            return here  # nearly every fragment there is
        call = self._known(delta) or self._new(delta)
        if delta.id:
            self._by_id[delta.id] = call
            if call.id is None:
                call.id = delta.id
        return call

    def at(self, index: int) -> CallState | None:
        return self._by_index.get(index)

    def all_whole(self) -> bool:
        """Is every call that will be passed on complete, as far as the calls themselves show?"""
        return all(
            call.end_emitted or call.phase is CallPhase.DROPPED or call.is_whole() for call in self.all
        )

    def _known(self, delta: CallDelta) -> CallState | None:
        if delta.index is not None:
            here = self._by_index.get(delta.index)
        else:
            here = self.all[-1] if self.all else None
        if self._index_only:
            return here
        if delta.id and (known := self._by_id.get(delta.id)) and not _contradicts(known, delta, here):
            return known
        if here is None or not here.name:
            return here
        if delta.id:
            # With a name it is another call at a used index; without, a backend that says a fresh id per chunk.
            return None if delta.name or here.phase in OVER else here
        return None if delta.name and _names_another(here, delta) else here

    def _new(self, delta: CallDelta) -> CallState:
        call = CallState(delta.index)
        self.all.append(call)
        if delta.index is not None:
            self._by_index[delta.index] = call
        return call


def _contradicts(known: CallState, delta: CallDelta, here: CallState | None) -> bool:
    """Does the index say that a known id is being used for another call?"""
    if delta.index is None or known.index is None or delta.index == known.index:
        return False
    return bool(delta.name) or here is not None


def _names_another(here: CallState, delta: CallDelta) -> bool:
    """Does this fragment without an id start another call, or does it repeat or continue the name of this one?"""
    if here.phase is WAITING and not here.pending_args:
        return False
    if here.phase in OVER or delta.name != here.name:
        return True
    return bool(delta.arguments) and here.is_whole()
