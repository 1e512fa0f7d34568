"""Replies as lists of events, and what the guard lets pass of them."""

from dataclasses import dataclass, replace

from proxy.core.errors import Unfit
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Text,
    ToolKind,
    ToolName,
    ToolSpec,
    Usage,
)
from proxy.core.policy.guard import Rules, guard
from proxy.core.tenants import Validation
from tests.support.assembling import PartDelta, Told, into, read_events, recorder
from tests.support.replies import check_of

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolSpec(ToolName("get_weather"), parameters=CITY)
SEARCH = ToolSpec(ToolName("search", "mcp"), parameters={"type": "object"})
PATCH = ToolSpec(ToolName("apply_patch"), ToolKind.CUSTOM)
DECLARED = {spec.tool: spec for spec in (WEATHER, SEARCH, PATCH)}
GOOD = '{"city":"Paris"}'


LAX = Rules(declared=DECLARED, check_of=check_of)
ENFORCING = replace(LAX, mode=Validation.ENFORCE)
OBSERVING = replace(LAX, mode=Validation.OBSERVE)
PARSING = replace(LAX, parses=True)
USAGE = Usage(1, 2, 3)
END = ReplyEnded(Ending.COMPLETED, USAGE)
TEXT = [
    PartStarted(PartKind.TEXT),
    PartDelta("Let me "),
    PartDelta("see."),
    PartEnded(Text("Let me see."), True),
]


def call(*arguments: str, spec: ToolSpec = WEATHER, id: str = "a", complete: bool = True) -> list[Told]:
    made = Call(id, spec.tool, spec.kind, "".join(arguments), backend_id=f"their {id}")
    return [
        PartStarted(PartKind.CALL, CallHead(id, spec.tool, spec.kind, f"their {id}")),
        *map(PartDelta, arguments),
        PartEnded(made, complete),
    ]


@dataclass
class Guarded:
    events: list[Told]
    ledger: Ledger

    @property
    def fault(self) -> Unfit:
        ended = self.events[-1]
        assert isinstance(ended, ReplyEnded)
        assert ended.ending is Ending.FAILED
        assert isinstance(ended.fault, Unfit)
        assert len(ended.fault.message) <= 200
        return ended.fault


def guarded(rules: Rules, *events: Told) -> Guarded:
    """What passes of a reply, which is well-formed before and after."""
    said = [ReplyStarted(), *events]
    read_events(said)
    out: list[Told] = []
    ledger = Ledger()
    feed = into(guard(rules, ledger)(recorder(out)))
    for event in said:
        feed(event)
    read_events(out)
    return Guarded(out[1:], ledger)


def same(events: list[Told], others: list[Told]) -> bool:
    """Equal, with the backend's ids, which do not count when calls are compared."""
    return repr(events) == repr(others)
