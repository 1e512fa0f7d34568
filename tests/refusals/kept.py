"""What is kept in the world `keeping`: one of everything that something can be wrong about."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.stored.conversation import Conversation
from proxy.core.stored.record import Record, Status
from proxy.core.tenants import ANYBODY
from proxy.shell.stores.memory.records import MemoryRecords
from tests.support.stores import Terms, item

TENANT, WORKER, CREATED = ANYBODY.name, "w", 1_700_000_000


def _id(prefix: str, number: int) -> str:
    return f"{prefix}_{number:048x}"


ANSWERED, RUNNING, WHOLE, STREAMED, GIVEN = (_id("resp", number) for number in range(1, 6))
"""A response that its client waited for; work in the background: under way, ended, ended and streamed; and what a
conversation was given."""
LONG = _id("resp", 8)
"""With an input that is longer than a small proxy takes."""
ITEM = _id("msg", 5)
CONVERSATION, BUSY = _id("conv", 6), _id("conv", 7)
"""One with the item in it, and one that a turn works on."""
LARGE = _id("conv", 10)
"""With more in it than is read at a time."""
MOST = 1 << 19


def _record(id: str, status: Status = Status.COMPLETED, **members: Any) -> Record:
    answer = jsontext.dumps({"id": id, "object": "response", "status": status})
    return Record(id, status, CREATED, "m", answer=answer, **members)


async def records() -> MemoryRecords:
    terms = Terms()
    engine = MemoryRecords(terms.clock, replace(terms.keeping, read_bytes=MOST))
    await engine.save(TENANT, _record(ANSWERED))
    await engine.save(TENANT, _record(LONG, input=jsontext.dumps([item(_id("msg", 9), "x" * (1 << 20))])))
    for id, members in ((RUNNING, {}), (WHOLE, {}), (STREAMED, {"streamed": True})):
        begun = _record(id, Status.QUEUED, background=True, **members)
        await engine.begin(TENANT, begun, WORKER)
        if id != RUNNING:
            await engine.finish(TENANT, replace(begun, status=Status.COMPLETED), WORKER)
    for conversation in (CONVERSATION, BUSY, LARGE):
        await engine.create(TENANT, Conversation(conversation, CREATED))
    await engine.add(TENANT, CONVERSATION, _record(GIVEN, input=jsontext.dumps([item(ITEM)])))
    large = [item(_id("msg", 11), "x" * MOST)]
    await engine.add(TENANT, LARGE, _record(_id("resp", 12), input=jsontext.dumps(large)))
    await engine.lock(TENANT, BUSY, WORKER, ANSWERED)
    return engine
