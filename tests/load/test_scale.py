"""The paper: its figures, what it takes from the code, and that the page shows it."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace

import pytest

from proxy.core.ids import Mint
from proxy.shell.stores.keys import family_of
from tests.load.scale import (
    IN_POSTGRES,
    IN_REDIS,
    Costs,
    Fleet,
    Load,
    busiest,
    connections,
    kept_bytes,
    loads,
    shard_of,
    summary,
    table,
)
from tests.load.unit_costs import of_postgres, of_redis
from tests.support.processes import ROOT

FAR_OFF = 10.0
"""Another machine is not so much slower."""


def load(name: str, fleet: Fleet | None = None) -> Load:
    return next(each for each in loads(fleet or Fleet(), IN_POSTGRES) if each.name == name)


@pytest.mark.parametrize(
    ("name", "commands", "size"),
    [
        ("saves", 15_000, 300e6),
        ("chains read", 16_667, 3.33e9),
        ("limits", 50_000, 0),
        ("log statements", 4_000, 20e6),
        ("beats and polls", 880, 0),
    ],
)
def test_a_million_streams_ask_so_much(name: str, commands: float, size: float) -> None:
    found = load(name)
    assert found.commands == pytest.approx(commands, rel=0.001)
    assert found.bytes == pytest.approx(size, rel=0.01)


def test_a_million_streams_keep_so_much() -> None:
    assert kept_bytes(Fleet(), days=1) == pytest.approx(26e12, rel=0.01)
    assert kept_bytes(Fleet(), days=30) == pytest.approx(780e12, rel=0.01)
    assert connections(Fleet()) == 1_600


def test_one_node_of_them_is_a_hundredth() -> None:
    for whole, part in zip(loads(Fleet(), IN_POSTGRES), loads(Fleet(nodes=1), IN_POSTGRES), strict=True):
        assert part.commands == pytest.approx(whole.commands / 100)


def test_logs_go_in_few_statements_until_these_are_full() -> None:
    busy = replace(Fleet(), background=0.2)
    assert load("log statements", busy).commands == 20_000
    assert load("log statements", busy).cores == pytest.approx(10 * load("log statements").cores)


def test_the_page_shows_it() -> None:
    page = (ROOT / ".github" / "docs" / "scale.md").read_text(encoding="utf-8")
    assert table(Fleet()) in page
    assert summary(Fleet()) in page


def test_what_continues_each_other_has_one_shard() -> None:
    numbers = iter(range(1, 100))
    mint = Mint(lambda size: f"{next(numbers) * 0x9E3779B97F4A7C15 % (1 << 8 * size):0{2 * size}x}")
    conversation = mint.conversation()
    response = mint.response(family_of(conversation))
    items = mint.items_of(response)
    ids = [
        conversation,
        response,
        mint.response(family_of(response)),
        items.input("msg", 0),
        items.output("fc", 1),
    ]
    assert len({shard_of(id) for id in ids}) == 1
    assert len({shard_of(mint.conversation()) for _ in range(20)}) > 1


def test_shards_are_alike() -> None:
    assert busiest(8, 100_000, [1]) == pytest.approx(1.02, abs=0.005)
    assert busiest(8, 20_000, [10] * 99 + [1_000]) == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize(("measured", "said"), [(of_postgres, IN_POSTGRES), (of_redis, IN_REDIS)])
async def test_a_command_costs_what_the_paper_says(
    measured: Callable[[], Awaitable[dict[str, float]]], said: Costs
) -> None:
    found = await measured()
    assert {name for name, milliseconds in asdict(said).items() if milliseconds} == found.keys()
    for name, milliseconds in found.items():
        assert getattr(said, name) / FAR_OFF < milliseconds < getattr(said, name) * FAR_OFF, name
