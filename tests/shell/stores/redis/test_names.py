"""Keys: whose they are, which of them lie together, and that no name passes for two."""

from itertools import product

from redis.crc import key_slot

from proxy.shell.stores.protocol import Key
from proxy.shell.stores.redis.names import Names

NAMES = Names("p")
FAMILY = "00112233445566ff"
ODD = ["", "a", "b", "a:b", "{a}", "}{", "*", "t:a", "ü", "a%3Ab", "\x00"]


def slots(*keys: str) -> set[int]:
    return {key_slot(key.encode()) for key in keys}


def test_what_one_script_changes_lies_together() -> None:
    """In a cluster, by the family, the tenant, and the backend."""
    responses = [f"resp_{n:032x}{FAMILY}" for n in range(3)]
    assert len(slots(*(key for id in responses for key in NAMES.log(Key("t", id))))) == 1
    assert len(slots(*NAMES.memos("t"))) == 1
    for name in ODD:
        assert len(slots(*NAMES.queue(name))) == 1
    families = [NAMES.log(Key("t", f"resp_{0:032x}{n:016x}"))[0] for n in range(50)]
    assert len(slots(*families)) > 40
    assert len(slots(*(NAMES.meters(f"tenant {n}") for n in range(50)))) > 40


def test_no_name_passes_for_two() -> None:
    keys = [key for tenant, id in product(ODD, ODD) for key in NAMES.log(Key(tenant, id))]
    keys += [key for tenant in ODD for key in NAMES.memos(tenant)]
    keys += [NAMES.meters(tenant) for tenant in ODD]
    keys += [key for name in ODD for key in NAMES.queue(name)]
    keys += [NAMES.queues_of(worker) for worker in ODD] + [NAMES.queues, NAMES.probe]
    assert len(keys) == len(set(keys))


def test_each_begins_with_the_prefix_and_the_tenant() -> None:
    keys = [*NAMES.log(Key("a b", "resp_1")), *NAMES.memos("a b"), NAMES.meters("a b")]
    assert {key[: len("p:t:a%20b:")] for key in keys} == {"p:t:a%20b:"}
    assert NAMES.all_of("a b") == "p:t:a%20b:*"
    assert all(key.startswith("p:") for key in (*NAMES.queue("q"), NAMES.queues, NAMES.probe))
