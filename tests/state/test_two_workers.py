"""Two processes on one store are one proxy: what one has answered, the other has (T01, T35, T91, T96, U03, U15)."""

import asyncio
from itertools import count

from proxy.shell.stores.terms import DAY
from tests.support.background import deleted, got
from tests.support.proxies import final
from tests.support.sockets import ScriptedBackend
from tests.support.state import asked, items, made, refused, sent
from tests.support.worker_processes import SETTLED_SECONDS, Workers
from tests.support.worker_processes import workers_of_each_engine as workers

__all__ = ["workers"]


async def test_t96_what_one_has_answered_the_other_continues_at_once(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """T01, T35, U03, U15: without a wait and without being asked twice. U65: on one machine, each has its own id."""
    one, other = await asyncio.gather(workers.start(), workers.start())
    parent = None
    for number in range(10):
        here, there = (one, other) if number % 2 else (other, one)
        body = {"input": f"{number}"} | ({"previous_response_id": parent} if parent else {})
        said = final(await here.stream(**body)) if number % 3 else await asked(here, **body)
        assert await got(there, said["id"]) == (200, said)
        parent = said["id"]
    assert [content for role, content in sent(backend) if role == "user"] == [f"{n}" for n in range(10)]
    ids = [id for (id,) in await workers.rows("select id from workers")]
    assert len(ids) == len(set(ids)) == 2
    assert await deleted(one, str(parent)) == (
        200,
        {"id": parent, "object": "response.deleted", "deleted": True},
    )
    assert (await got(other, str(parent)))[0] == 404
    assert (await refused(other, previous_response_id=parent))[1] == "previous_response_not_found"


async def test_t91_children_of_one_parent_on_two_workers_at_once(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """U45: and of those in one conversation, one is refused. Its items are in the order in which they had the lock."""
    both = await asyncio.gather(workers.start(), workers.start())
    parent = await asked(both[0])
    calls = len(backend.received)
    await asyncio.gather(
        *(asked(both[n % 2], input=f"{n}", previous_response_id=parent["id"]) for n in range(20))
    )
    histories = [request.json["messages"] for request in backend.received[calls:]]
    assert sorted(int(history[-1]["content"]) for history in histories) == list(range(20))
    assert {len(history) for history in histories} == {3}
    assert await got(both[1], parent["id"]) == (200, parent)
    talk = await made(both[0])
    calls = len(backend.received)
    answers = await asyncio.gather(
        *(_status(both[n % 2], conversation=talk, input=f"{n}") for n in range(20))
    )
    assert answers.count(200) >= 1
    assert set(answers) <= {200, 400}
    had_the_lock = [request.json["messages"][-1]["content"] for request in backend.received[calls:]]
    kept = await items(both[1], talk)
    assert [item["role"] for item in kept] == ["user", "assistant"] * answers.count(200)
    assert [item["content"][0]["text"] for item in kept[::2]] == had_the_lock


async def test_u60_a_shorter_retention_holds_for_what_is_there(
    backend: ScriptedBackend, workers: Workers
) -> None:
    """In the settings of whoever reads: of two processes, in the middle of a rollout."""
    one = await workers.start()
    old, new = await asked(one), await asked(one)
    await workers.change(f"update turns set ended = ended - {3 * DAY} where id = '{old['id']}'")
    assert (await got(one, old["id"]))[0] == 200
    workers.set(store={"url": workers.store, "retention_days": 2})
    other = await workers.start()
    assert (await got(other, old["id"]))[0] == 404
    assert (await refused(other, previous_response_id=old["id"]))[1] == "previous_response_not_found"
    assert await got(other, new["id"]) == (200, new)
    async with asyncio.timeout(SETTLED_SECONDS):
        for _ in count():
            if not await workers.rows(f"select 1 from turns where id = '{old['id']}'"):
                break
            await asyncio.sleep(0.1)


async def _status(proxy: object, **body: object) -> int:
    async with proxy.post({"model": "m", "input": "Hi"} | body) as response:  # type: ignore[attr-defined]
        if response.status == 400:
            assert (await response.json())["error"]["code"] == "conversation_locked"
        status: int = response.status
        return status
