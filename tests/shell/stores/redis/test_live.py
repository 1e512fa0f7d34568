"""What lies in the server: nothing for ever, and of no tenant anything that another reaches."""

import pytest

from proxy.shell.stores.protocol import Cursor, Key, LogRow, Ticket, Want
from proxy.shell.stores.redis.live import RedisLive
from tests.support.redis_live import patient
from tests.support.redis_server import RedisProcess

DAY = 86_400
MINUTE = 60
LOG = Key("t", "resp_1")


async def test_nothing_is_kept_for_ever(process: RedisProcess, live: RedisLive) -> None:
    """T66: the server takes away itself what nobody changes any more, a minute after it is over."""
    await live.open()
    await live.append([LogRow(LOG, 0, [b"{}"]), LogRow(Key("t", "ended"), 0, [b"{}"])])
    await live.shut(Key("t", "shut"))
    await live.end(Key("t", "ended"), 1, b"{}")
    await live.remember("t", {"memo": b"1"}, 100)
    await live.remember("t", {"brief": b"1"}, 10)
    await live.take("t", [Want("calls", 10, 3)])
    await live.take("t", [Want("requests", 60)])
    await live.enter("w", [Ticket("q", "a")])
    await live.sweep(50)
    with process.client(decode_responses=True) as client:
        left = {key.partition(":")[2]: client.ttl(key) for key in client.scan_iter("*")}
    tag = "{=t}"
    expected = {
        "t:t:log:{=resp_1}:resp_1": DAY + MINUTE,
        "t:t:log:{=resp_1}:resp_1:rows": DAY + MINUTE,
        "t:t:log:{=shut}:shut": DAY + MINUTE,
        "t:t:log:{=ended}:ended": 11 * MINUTE,
        "t:t:log:{=ended}:ended:rows": 11 * MINUTE,
        f"t:t:memos:{tag}": 100 + MINUTE,
        f"t:t:memos:{tag}:order": 100 + MINUTE,
        f"t:t:memos:{tag}:size": 100 + MINUTE,
        f"t:t:meters:{tag}": 18 + MINUTE,
        "queue:{=q}:order": 45 + MINUTE,
        "queue:{=q}:holders": 45 + MINUTE,
        "queue:{=q}:workers": 45 + MINUTE,
        "queues": 45 + MINUTE,
        "queues:{=w}": 45 + MINUTE,
    }
    assert left.pop("probe", 1) <= 1
    assert left.keys() == expected.keys()
    assert all(expected[key] - 5 <= seconds <= expected[key] for key, seconds in left.items()), left


async def kept(live: RedisLive, tenant: str) -> tuple[bool, bool, bool]:
    """Of logs, memos and meters."""
    cursor = Cursor(Key(tenant, LOG.id), 0)
    answer = await live.take(tenant, [Want("requests", 60, 0)])
    return (
        (await live.read([cursor], 9))[cursor] is not None,
        bool(await live.recall(tenant, ["memo"])),
        answer.full_in[0] > 0,
    )


async def test_a_tenant_that_is_forgotten_leaves_nothing(live: RedisLive) -> None:
    tenants = ["t", "tt", "t:log", "*", "", "T"]
    for tenant in tenants:
        await live.append([LogRow(Key(tenant, LOG.id), 0, [b"{}"])])
        await live.remember(tenant, {f"{n}": b"1" for n in range(600)} | {"memo": b"1"}, 100)
        await live.take(tenant, [Want("requests", 60, 30)])
    await live.enter("w", [Ticket("t", "a")])
    for tenant in ("*", "t", ""):
        await live.forget(tenant)
        tenants.remove(tenant)
        assert await kept(live, tenant) == (False, False, False)
        assert [await kept(live, other) for other in tenants] == [(True, True, True)] * len(tenants)
    assert await live.ranks("w") == {Ticket("t", "a"): 0}


@pytest.mark.parametrize("name", ["a", "a:b", "{a}", "}", "ü", "\x00", "x" * 500])
async def test_any_name_is_one_of_its_own(live: RedisLive, name: str) -> None:
    for n, other in enumerate(("a:", "{a", name)):
        await live.remember(other, {name: b"%d" % n}, 100)
        await live.remember(name, {other: b"other"}, 100)
    assert await live.recall("a:", [name]) == {name: b"0"}
    assert await live.recall("{a", [name]) == {name: b"1"}


async def test_nothing_of_nothing(live: RedisLive) -> None:
    assert await live.append([]) == await live.read([], 9) == {}
    await live.remember("t", {}, 9)
    assert await live.recall("t", []) == {}
    await live.leave([])
    await live.charge("t", [])
    assert await live.enter("w", []) == await live.ranks("w") == {}
    assert await live.sweep(0) == await live.sweep(5) == 0


async def test_a_tenants_memos_have_a_bound(process: RedisProcess) -> None:
    """The oldest go; what is told anew counts once, and what is over counts no more."""
    live = patient(process.url, "test", most_memo_bytes=1000)
    for n in range(100):
        await live.remember("t", {f"{n}": b"x" * 70, "again": b"y" * 70}, 100 + n / 10)
    found = await live.recall("t", [*map(str, range(100)), "again"])
    assert list(found) == [*map(str, range(100 - len(found) + 1, 100)), "again"]
    assert 9 <= len(found) <= 11
    await live.remember("t", {"too large": b"x" * 2000}, 1000)
    assert await live.recall("t", ["too large", "again"]) == {}
    await live.remember("other", {"a": b"1"}, 100)
    await live.remember("t", {"small": b"1"}, 100)
    assert await live.recall("t", ["small"]) == {"small": b"1"}
    with process.client() as client:
        (size,) = client.scan_iter("test:t:t:*:size")
        assert 0 < int(client.get(size)) < 30
        client.delete("test:t:t:memos:{=t}")
    await live.remember("t", {"small": b"1"}, 100)
    with process.client() as client:
        assert 0 < int(client.get(size)) < 30
    await live.close()
