"""What may vanish, in a file: what no other engine does. `tests/stores` asks all engines the same."""

from pathlib import Path

from proxy.shell.stores.protocol import Cursor, Key, LogRow, Taken, Want
from proxy.shell.stores.sqlite.live import SqliteLive
from tests.support.stores import Terms


async def test_a_tenant_is_forgotten_whole_and_alone(tmp_path: Path) -> None:
    live = SqliteLive(tmp_path / "live.db", Terms().clock)
    await live.open()
    keys = [Key(tenant, f"resp_{number}") for tenant in ("t", "other") for number in range(60)]
    for first in (0, 1):
        await live.append([LogRow(key, first, [b"{}"]) for key in keys])
    for tenant in ("t", "other"):
        await live.remember(tenant, {"a": b"1", "b": b"2"}, 60)
        await live.charge(tenant, [Want("requests", 60, 5)])
    await live.forget("t")
    read = await live.read([Cursor(key, 0) for key in keys], 10_000)
    assert {cursor.key.tenant for cursor, replay in read.items() if replay} == {"other"}
    assert await live.recall("t", ["a", "b"]) == {}
    assert await live.recall("other", ["a", "b"]) == {"a": b"1", "b": b"2"}
    just_asked = [Want("requests", 60, 0)]
    assert await live.take("t", just_asked) == Taken([0.0])
    assert await live.take("other", just_asked) == Taken([5.0])
    await live.close()
