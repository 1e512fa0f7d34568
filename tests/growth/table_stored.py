"""Who reads what is kept, and requests for it, each with inputs that grow."""

import sqlite3
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any
from weakref import finalize

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.ids import ItemIds, Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning
from proxy.core.stored import endings
from proxy.core.stored.conversation import Order
from proxy.core.stored.histories import entries_of, history_of
from proxy.core.stored.kept_items import kept_items
from proxy.core.stored.named import previous_and_conversation
from proxy.core.stored.pages import behind, input_items, page, page_wish
from proxy.core.stored.private import opened, with_thought
from proxy.core.stored.queries import Query, included, retrieval
from proxy.core.stored.record import Record, Status
from proxy.core.stored.references import OwnItems, referred, resolved
from proxy.core.stored.so_far import OutputSoFar
from proxy.core.surfaces.responses.conversations import kept_in_conversation, new_items
from proxy.shell.stores.memory.records import MemoryRecords
from proxy.shell.stores.sql.record_steps import RecordSteps
from proxy.shell.stores.sql.step import Step
from proxy.shell.stores.sql.tables import RECORDS
from tests.growth.work import Make
from tests.support.stores import Terms, ids_of, record

Json = dict[str, Any]

ANSWER: Json = {"status": "completed", "output": []}


def _ids() -> ItemIds:
    mint = Mint(lambda size: "0" * 2 * size)
    return mint.items_of(mint.response())


def _message(id: str) -> Json:
    return {"id": id, "type": "message", "role": "user", "content": "a"}


def _thought(id: str) -> Json:
    return with_thought({"id": id, "type": "reasoning", "summary": []}, Reasoning("b"), "m")


def _cut(id: str) -> Json:
    return {"id": id, "type": "function_call", "call_id": id, "status": "incomplete"}


def _record(at: int) -> Record:
    output = [_thought(f"rs_{at}"), _message(f"msg_{at}"), _cut(f"fc_{at}")]
    record = Record(
        f"resp_{at}", Status.QUEUED, created=1, model="m", input=jsontext.dumps([_message(f"in_{at}")])
    )
    return endings.answered(record, ANSWER | {"output": output})


def _kept(n: int) -> Callable[[], object]:
    items = [_message("one id")] * n + [{"role": "user", "content": "a"}] * n
    return lambda: kept_items(items, _ids())


def _history(n: int) -> Callable[[], object]:
    chain = [_record(at) for at in range(n)]
    return lambda: opened(jsontext.loads(history_of(chain, Ledger())), "m", Ledger())


def _listed(n: int) -> Callable[[], object]:
    chain = [_record(at) for at in range(n)]
    wish = page_wish(Query([("limit", "100"), ("after", "in_0")]))
    return lambda: page(wish, behind(wish, input_items(chain, Order.DESCENDING)))


def _entries(n: int) -> Callable[[], object]:
    items = [_message(f"msg_{at}") for at in range(n)]
    record = endings.answered(_record(0), ANSWER | {"output": items})
    return lambda: (entries_of(record), endings.terminal_event(endings.orphaned(record), 1))


def _referred(n: int) -> Callable[[], object]:
    stored = {f"msg_{at}": jsontext.dumps(_thought(f"msg_{at}")) for at in range(n)}
    history = [_message(f"in_{at}") for at in range(n)]
    items = [{"id": id} for id in stored] + history + [{"id": item["id"]} for item in history]

    def work() -> None:
        assert len(referred(items, {item["id"] for item in history})) == n
        assert len(resolved(items, stored, history, "m", Ledger()).items) == n

    return work


def _answered_again(n: int) -> Callable[[], object]:
    calls = [{"type": "function_call", "call_id": f"call_{at}"} for at in range(n)]
    outputs = [call | {"type": "function_call_output", "output": "18"} for call in calls]

    def work() -> None:
        assert resolved(outputs, {}, calls + outputs, "m", Ledger()).items == []

    return work


def _said_again(n: int) -> Callable[[], object]:
    turn = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "I look."}] * n
    arguments = jsontext.compact({"city": "Paris", "days": [1] * n})
    calls = [{"type": "function_call", "call_id": f"call_{at}", "arguments": arguments} for at in range(10)]
    outputs = [{"type": "function_call_output", "call_id": f"call_{at}", "output": "18"} for at in range(10)]

    def work() -> None:
        assert resolved([*turn, *calls, *outputs], {}, [*turn, *calls], "m", Ledger()).items == outputs

    return work


def _asked_again(n: int) -> Callable[[], object]:
    prompt = [{"type": "message", "role": "user", "content": f"{at}"} for at in range(n)]
    call = {"type": "function_call", "call_id": "call_1"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "18"}

    def work() -> None:
        assert resolved([*prompt, output], {}, [*prompt, call], "m", Ledger()).items == [output]

    return work


def _told(n: int) -> Callable[[], object]:
    def told(kind: str, **fields: Any) -> bytes:
        return jsontext.dumps({"type": f"response.{kind}", "output_index": 0, **fields})

    item = {"id": "msg_1", "type": "message", "content": []}
    part = {"type": "output_text", "text": ""}
    deltas = [told("output_text.delta", delta="a")] * n
    events = [told("output_item.added", item=item), told("content_part.added", part=part), *deltas]
    return lambda: OutputSoFar(events).cut()


def _asked(n: int) -> Callable[[], object]:
    query = [("include[]", "message.output_text.logprobs")] * n
    words = [("stream", "true"), ("starting_after", "1" * n)]

    def work() -> None:
        included(Query(query))
        retrieval(Query(words))

    return work


def _named(n: int) -> Callable[[], object]:
    def work() -> None:
        for body in (
            {"previous_response_id": "resp_" + "a" * n},
            {"conversation": {"id": "conv_" + "a" * n}},
        ):
            with suppress(Fault):
                previous_and_conversation(body)

    return work


def _conversation(n: int) -> Callable[[], object]:
    items = [_message(f"msg_{at}") for at in range(n)]

    def work() -> None:
        kept_in_conversation(OwnItems(items, range(len(items))), _ids(), Ledger())
        for item in items:
            new_items({"items": [item]})

    return work


def _items_of_one(n: int) -> Callable[[], object]:
    """In memory, and by the steps of the engines that speak SQL."""
    terms, kept = Terms(), record(inputs=n)
    memory, steps = MemoryRecords(terms.clock, terms.keeping), RecordSteps(terms.clock, terms.keeping)
    connection = sqlite3.connect(":memory:")
    for statement in (statement for step in RECORDS.steps for statement in step):
        connection.execute(statement)
    _done(memory.save("t", kept))
    _carried(connection, steps.save("t", kept, (), ""))

    def work() -> None:
        assert len(_done(memory.items("t", ids_of(kept)))) == n + 1
        assert len(_carried(connection, steps.items("t", ids_of(kept)))) == n + 1

    finalize(work, connection.close)
    return work


def _done(command: Coroutine[Any, Any, Any]) -> Any:
    """What it returns. Nothing is waited for in memory."""
    try:
        command.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def _carried(connection: sqlite3.Connection, step: Step[Any]) -> Any:
    try:
        ask = next(step)
        while True:
            ask = step.send(connection.execute(*ask).fetchall())
    except StopIteration as end:
        return end.value


STORED: Mapping[str, Make] = {
    "items to keep": _kept,
    "a chain": _history,
    "a page of a chain": _listed,
    "entries of a turn": _entries,
    "references": _referred,
    "outputs that are known": _answered_again,
    "a prompt that is known": _asked_again,
    "a turn that is known": _said_again,
    "events of a log": _told,
    "a query": _asked,
    "what a request continues": _named,
    "items of a conversation": _conversation,
    "items of one response, by their ids": _items_of_one,
}
