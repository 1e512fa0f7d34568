"""A reply assembled from a list of deltas, and a reader of events that forgives nothing."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from proxy.core.events import (
    CallDelta,
    CallHead,
    Delta,
    Ending,
    Event,
    Finish,
    FinishDelta,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger, Log
from proxy.core.model import (
    Call,
    HostedItem,
    Reasoning,
    Refusal,
    ReplyPart,
    Summary,
    Text,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.sink import Sink
from proxy.core.stream.assembler import Assembler
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.surfaces.surface import Encoder
from proxy.core.tools.names import NameTable
from tests.support.replies import counting_mint

TOOLS = (
    ToolSpec(ToolName("get_weather")),
    ToolSpec(ToolName("get_time")),
    ToolSpec(ToolName("exec")),
    ToolSpec(ToolName("exec_command")),
    ToolSpec(ToolName("search", "mcp__docs")),
    ToolSpec(ToolName("apply_patch"), ToolKind.CUSTOM),
)
"""`exec` is the beginning of `exec_command`: seen alone, it may be a fragment of it."""

STOP, LENGTH, FILTER = (FinishDelta(finish) for finish in (Finish.STOP, Finish.LENGTH, Finish.FILTER))

PART_KINDS: dict[type[ReplyPart], PartKind] = {
    Text: PartKind.TEXT,
    Reasoning: PartKind.REASONING,
    Refusal: PartKind.REFUSAL,
    Call: PartKind.CALL,
    HostedItem: PartKind.HOSTED,
    Summary: PartKind.SUMMARY,
}


@dataclass
class PartDelta:
    """More of the open part, written down among the events."""

    text: str
    logprobs: list[Any] | None = None


Told = Event | PartDelta


def recorder(told: list[Told]) -> Sink:
    return Sink(told.append, lambda text, logprobs: told.append(PartDelta(text, logprobs)))


def into(sink: Sink | Encoder) -> Callable[[Told], None]:
    """Each goes its own way, as the assembler sends them."""

    def feed(told: Told) -> None:
        if isinstance(told, PartDelta):
            sink.delta(told.text, told.logprobs)
        else:
            sink.feed(told)

    return feed


@dataclass
class Assembled:
    events: list[Told]
    ledger: Ledger
    assembler: Assembler

    @property
    def parts(self) -> list[PartEnded]:
        return [event for event in self.events if isinstance(event, PartEnded)]

    @property
    def ended(self) -> ReplyEnded:
        ended = self.events[-1]
        assert isinstance(ended, ReplyEnded)
        return ended

    @property
    def odd(self) -> dict[str, int]:
        return dict(self.ledger.oddities)


def assemble(
    *deltas: Delta,
    names: NameTable | None = None,
    taken_ids: AbstractSet[str] = frozenset(),
    identity: str = "id",
    log: Log | None = None,
    close: bool = True,
) -> Assembled:
    """Everything that comes of these deltas. Unless told otherwise, the backend's bytes end after them."""
    events: list[Told] = []
    ledger = Ledger(log)
    assembler = Assembler(
        recorder(events),
        names or NameTable(TOOLS),
        ClientCallIds(counting_mint(), lambda: taken_ids, always_ours=False),
        ledger,
        identity,
    )
    assembler.start()
    for delta in deltas:
        assembler.feed(delta)
    if close:
        assembler.close()
        read_events(events)
    return Assembled(events, ledger, assembler)


def read_events(events: Iterable[Told]) -> None:
    """What is promised of every reply: one part at a time, each started and ended once, one ending, last."""
    rest = iter(events)
    assert next(rest) == ReplyStarted()
    started: PartStarted | None = None
    said: list[str] = []
    cut = False
    call_ids: list[str] = []
    for event in rest:
        match event:
            case PartStarted():
                assert started is None, "a part starts while another is open"
                assert not cut, "something follows a part that was cut"
                assert (event.call is not None) == (event.kind is PartKind.CALL)
                started, said = event, []
            case PartDelta():
                assert started is not None, "a delta outside of a part"
                assert event.text
                said.append(event.text)
            case PartEnded():
                assert started is not None, "a part ends that was never started"
                _read_part(event, started, "".join(said))
                call_ids += [event.part.call_id] if isinstance(event.part, Call) else []
                cut = not event.complete
                started = None
            case ReplyEnded():
                assert started is None, "the reply ends within a part"
                assert (event.fault is not None) == (event.ending is Ending.FAILED)
                assert not (cut and event.ending is Ending.COMPLETED), "a success with a part that was cut"
                assert next(rest, None) is None, "something follows the end"
                assert len(set(call_ids)) == len(call_ids), "two calls with one id"
                return
            case _:
                raise AssertionError(f"{event} within a reply")
    raise AssertionError("the reply never ends")


def _read_part(ended: PartEnded, started: PartStarted, said: str) -> None:
    part = ended.part
    assert PART_KINDS[type(part)] is started.kind
    if isinstance(part, Call):
        assert CallHead(part.call_id, part.tool, part.kind) == started.call
        assert part.arguments == said
    elif isinstance(part, HostedItem):
        assert started.wordless
        assert not said
    else:
        assert part.text == said
        assert bool(said) is not started.wordless, "an empty part"


def says(index: int | None, id: str | None = None, name: str | None = None, arguments: str = "") -> CallDelta:
    return CallDelta(index, id, name, arguments)


def call(
    call_id: str,
    name: str,
    arguments: str = "{}",
    kind: ToolKind = ToolKind.FUNCTION,
    namespace: str | None = None,
) -> Call:
    return Call(call_id, ToolName(name, namespace), kind, arguments)


def done(*parts: ReplyPart) -> list[PartEnded]:
    return [PartEnded(part, complete=True) for part in parts]


def cut(part: ReplyPart) -> list[PartEnded]:
    return [PartEnded(part, complete=False)]
