"""The audit of a soak finds what is not as it was promised."""

from collections.abc import Callable

import pytest

from tests.load.calls import Calls
from tests.load.promises import Audit, Promises, digest, now
from tests.support.background import Talker, begun, deleted, ended
from tests.support.proxies import Proxy, backend, proxy, start_proxy
from tests.support.sockets import ScriptedBackend
from tests.support.state import asked, made

__all__ = ["backend", "proxy", "start_proxy"]


async def audited(proxy: Proxy, promises: Promises) -> list[str]:
    await Audit(Calls(proxy.session, proxy.url), promises, "m", patience=0.1).run()
    return sorted(words.partition(":")[0] for words in promises.broken)


async def kept_by(proxy: Proxy) -> Promises:
    """One of each, all as it should be."""
    promises = Promises()
    first = await asked(proxy)
    second = await asked(proxy, previous_response_id=first["id"])
    talk = await made(proxy)
    turn = await asked(proxy, conversation=talk)
    run = await ended(proxy, (await begun(proxy))["id"])
    unknown = await asked(proxy, store=False)
    promises.kept = {each["id"]: digest(each["output"]) for each in (first, second, turn, run)}
    promises.runs = {run["id"]: False}
    promises.gone = [unknown["id"]]
    promises.chains = [[first["id"], second["id"]], []]
    promises.conversations = {talk: 2}
    return promises


async def test_what_is_as_promised_is_found_so(proxy: Proxy) -> None:
    assert await audited(proxy, await kept_by(proxy)) == []


def lose(promises: Promises) -> None:
    promises.kept["resp_" + "0" * 48] = b""


def change(promises: Promises) -> None:
    promises.kept[next(iter(promises.kept))] = b""


def bring_back(promises: Promises) -> None:
    promises.gone.append(next(iter(promises.kept)))


def shorten(promises: Promises) -> None:
    promises.chains[0].append(promises.chains[0][-1])


def cut(promises: Promises) -> None:
    promises.chains[0].append("resp_" + "0" * 48)


def drop(promises: Promises) -> None:
    promises.conversations = dict.fromkeys(promises.conversations, 3)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lose, "lost"),
        (change, "changed"),
        (bring_back, "came back"),
        (shorten, "a chain has lost some of its history"),
        (cut, "a chain does not go on"),
        (drop, "a conversation has lost items"),
    ],
)
async def test_what_is_not_is_told(proxy: Proxy, spoil: Callable[[Promises], None], words: str) -> None:
    promises = await kept_by(proxy)
    spoil(promises)
    assert await audited(proxy, promises) == [words]


async def test_a_run_without_an_end_and_a_locked_conversation_are_told(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    talker = Talker()
    backend.plays(talker)
    talk = await made(proxy)
    run = await begun(proxy, conversation=talk)
    promises = Promises(runs={run["id"]: False}, conversations={talk: 0})
    assert await audited(proxy, promises) == [
        "a conversation takes no turn any more",
        "a run without an end",
    ]
    await talker.ends()


async def test_a_run_whose_events_are_gone_is_told(proxy: Proxy) -> None:
    run = await ended(proxy, (await begun(proxy))["id"])
    promises = Promises(runs={run["id"]: True}, begun={run["id"]: now()}, ended={run["id"]: now()})
    assert await audited(proxy, promises) == ["the events of a run are gone too early"]
    promises = Promises(runs={run["id"]: False}, gone=[run["id"]])
    await deleted(proxy, run["id"])
    assert await audited(proxy, promises) == []
