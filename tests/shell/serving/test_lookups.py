"""Who asks about what is kept takes no more than their share: of places, of streams, of memory."""

import pytest

from proxy.core.errors import Fault, TooMany
from proxy.core.policy.shares import Shares
from proxy.shell.serving import lookups as module
from proxy.shell.serving.lookups import Lookups
from tests.support.background import FollowingClients, Talker, got, id_of
from tests.support.keeping import TENANT, StartKeeping
from tests.support.proxies import StartProxy
from tests.support.sockets import ScriptedBackend, text
from tests.support.stores import record


def test_everybody_has_a_share_of_the_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUESTIONS", 3)
    monkeypatch.setattr(module, "MOST_FOLLOWERS", 3)
    for context in ("question", "following"):
        lookups = Lookups(Shares(100))
        with getattr(lookups, context)("ann"), pytest.raises(TooMany), getattr(lookups, context)("ann"):
            pass
        with getattr(lookups, context)("ann"), getattr(lookups, context)("bob"):
            pass


def test_what_is_loaded_is_given_back() -> None:
    lookups = Lookups(Shares(100))
    for _ in range(3):
        with lookups.question("ann") as loan:
            loan.take(50)
        with pytest.raises(Fault), lookups.question("ann") as loan:
            loan.take(51)


async def test_s16_what_is_read_takes_memory_and_gives_it_back(start_keeping: StartKeeping) -> None:
    """As what is sent does: one owner may have 6 MiB here, and the first needs 4, the second 8."""
    keeping = await start_keeping(server={"memory_mib": 16})
    kept, larger = record(text="x" * (2 << 20)), record(text="x" * (4 << 20))
    for each in (kept, larger):
        await keeping.records.save(TENANT, each)
    for path in ("", "/input_items") * 3:
        assert (await keeping.ask("GET", f"/responses/{kept.id}{path}")).status == 200
        told = await keeping.ask("GET", f"/responses/{larger.id}{path}")
        assert told.refusal == (413, "request_too_large", None)


async def test_u44_so_many_may_follow_and_the_next_one_when_one_has_left(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has begun the work does not count, and neither does who asks how it stands."""
    monkeypatch.setattr(module, "MOST_FOLLOWERS", 4)
    proxy, talker = await start_proxy(), Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as first:
        id = id_of(await (await first.begin()).until("response.created"))
        async with FollowingClients(proxy) as others:
            for _ in range(2):
                await (await others.resume(id)).until("response.created")
            status, refusal = await got(proxy, id, stream="true")
            assert (status, refusal["error"]["code"]) == (429, "rate_limit_exceeded")
            assert "Too many streams follow work in the background" in refusal["error"]["message"]
            assert (await got(proxy, id))[0] == 200
        await talker.says(text("Hel"))
        async with FollowingClients(proxy) as others:
            for _ in range(2):
                await (await others.resume(id)).until_text("Hel")
        await talker.ends()
