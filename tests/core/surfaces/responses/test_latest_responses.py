"""What a connection remembers of its conversations: the newest response of each lane, and all before it."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.caches.shelf import Shelf
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.stored.named import NOTHING_NAMED, Known
from proxy.core.surfaces.responses.latest_responses import (
    MAX_LANES,
    PIECE_BYTES,
    LatestResponses,
    Remembered,
)
from proxy.core.surfaces.responses.whole_input import items_of, whole_input
from proxy.core.surfaces.surface import Stored
from tests.support.tables import table

USER = {"type": "message", "role": "user", "content": "Hi"}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
MORE = {"type": "message", "role": "user", "content": "More"}


def free(weight: int) -> None:
    """There is memory for everything."""


def empty(limit: int = 1000, shelf: Remembered | None = None, owner: str = "ann") -> LatestResponses:
    return LatestResponses(limit, Shelf(10_000_000) if shelf is None else shelf, owner)


def memory(limit: int = 1000) -> LatestResponses:
    known = empty(limit)
    keep(known, "resp_1", {"input": "Hi", "instructions": "Be brief."}, [ANSWER])
    return known


def keep(known: LatestResponses, response_id: str, body: Any, output: list[dict[str, Any]]) -> None:
    known.keep(Stored(response_id, items_of(body.get("input")) + output))
    for _ in known.shelve():
        pass


def completed(known: LatestResponses, body: Any) -> Any:
    """The request as its surface reads it."""
    previous = body.get("previous_response_id")
    if previous is None:
        return body
    loaded = Known(NOTHING_NAMED, b"".join(known.unpacked(previous, free)))
    items = whole_input(body, "m", loaded, Ledger()).items
    assert items == whole_input(body, "m", loaded, Ledger()).items, "long work is begun again in a thread"
    return {name: value for name, value in body.items() if name != "previous_response_id"} | {"input": items}


def missed(known: LatestResponses, previous: str) -> bool:
    return not known.knows(previous)


def test_a_request_that_continues_nothing_is_complete() -> None:
    body = {"input": "Hi", "previous_response_id": None}
    assert completed(memory(), body) is body


@table(
    ("given", "new"),
    [
        ("More", [MORE]),
        ([MORE], [MORE]),
        ([], []),
        (None, []),
    ],
)
def test_what_is_new_comes_after_what_was_said(given: Any, new: list[Any]) -> None:
    body = {"model": "m", "input": given, "previous_response_id": "resp_1"}
    assert completed(memory(), body) == {"model": "m", "input": [USER, ANSWER, *new]}
    assert body["previous_response_id"] == "resp_1"


def test_a_conversation_grows() -> None:
    known = memory()
    keep(known, "resp_2", completed(known, {"input": "More", "previous_response_id": "resp_1"}), [ANSWER])
    assert completed(known, {"previous_response_id": "resp_2"})["input"] == [USER, ANSWER, MORE, ANSWER]


def test_only_the_newest_is_known() -> None:
    known = memory()
    assert known.knows("resp_1")
    assert not known.knows("resp_2")
    keep(known, "resp_2", {"input": "More"}, [])
    assert missed(known, "resp_1")
    assert completed(known, {"previous_response_id": "resp_2"})["input"] == [MORE]


def test_a_continuation_that_does_not_come_to_a_good_end_has_evicted_what_it_continued() -> None:
    known = memory()
    completed(known, {"previous_response_id": "resp_1"})
    assert missed(known, "resp_1")


def test_a_failure_elsewhere_leaves_it_known() -> None:
    known = memory()
    completed(known, {"input": "something else"})
    assert missed(known, "resp_0")
    assert completed(known, {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]


def test_what_is_too_long_is_forgotten() -> None:
    known = memory(limit=200)
    assert completed(known, {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    keep(known, "resp_2", {"input": "x" * 200}, [])
    assert missed(known, "resp_2")


# ── lanes ──


def on(known: LatestResponses, lane: str | None) -> LatestResponses:
    known.begin(lane)
    return known


def test_v05_each_lane_has_a_newest_response_of_its_own() -> None:
    known = memory()
    keep(on(known, "b"), "resp_2", {"input": "More"}, [])
    keep(on(known, "b"), "resp_3", {"input": "More"}, [])
    assert missed(known, "resp_2")
    assert completed(on(known, "b"), {"previous_response_id": "resp_3"})["input"] == [MORE]
    assert completed(on(known, None), {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]


def test_the_lane_of_a_response_is_that_whose_newest_it_is() -> None:
    known = memory()
    known.begin("a")
    keep(known, "resp_2", {"input": "Hi"}, [ANSWER])
    assert [known.lane_of(previous) for previous in ("resp_1", "resp_2", "resp_3", None, [])] == [
        None, "a", None, None, None,
    ]  # fmt: skip


def test_v05_another_lane_forks_and_takes_nothing_away() -> None:
    known = memory()
    for _ in range(2):
        assert completed(on(known, "fork"), {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    assert completed(on(known, None), {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    assert missed(known, "resp_1")


def test_v05_what_is_oldest_is_forgotten_when_there_are_too_many_lanes() -> None:
    known = empty(10_000)
    for number in range(MAX_LANES + 1):
        keep(on(known, f"lane-{number}"), f"resp_{number}", {"input": "Hi"}, [])
    assert missed(known, "resp_0")
    for number in range(1, MAX_LANES + 1):
        assert completed(on(known, "fork"), {"previous_response_id": f"resp_{number}"})["input"] == [USER]


def test_v05_all_lanes_together_have_the_room_of_one() -> None:
    """Else a connection could hold sixteen times as much."""
    known = empty(1000)
    for lane in "abc":
        keep(on(known, lane), f"resp_{lane}", {"input": "x" * 400}, [])
    assert missed(known, "resp_a")
    keep(on(known, "d"), "resp_d", {"input": "x" * 1000}, [])
    assert missed(known, "resp_d")
    for lane in "bc":
        assert completed(on(known, lane), {"previous_response_id": f"resp_{lane}"})["input"]


def test_attack_22_so_is_what_cannot_be_read_at_once() -> None:
    """Though no message of it was too large, all together are."""
    known = memory(limit=1 << 24)
    items = [{**USER, "x": [[]] * 300_000}]
    keep(known, "resp_2", {"input": items}, [])
    completed(known, {"previous_response_id": "resp_2"})
    keep(known, "resp_3", {"input": items * 2}, [])
    assert missed(known, "resp_3")


# ── one shelf for all ──


def test_attack_14_what_is_remembered_is_packed() -> None:
    shelf: Remembered = Shelf(1_000_000)
    known = empty(1 << 20, shelf)
    keep(known, "resp_1", {"input": "Hello " * 100_000}, [])
    assert shelf.forget() < 10_000


def test_attack_14_others_may_need_the_room() -> None:
    shelf: Remembered = Shelf(1_000)
    mine, theirs = empty(1000, shelf), empty(1000, shelf, "bob")
    keep(mine, "resp_1", {"input": "Hi"}, [])
    keep(theirs, "resp_2", {"input": "Hi"}, [])
    assert missed(mine, "resp_1")
    assert missed(mine, "resp_1")
    assert completed(theirs, {"previous_response_id": "resp_2"})["input"] == [USER]


def test_attack_14_a_connection_that_is_over_leaves_nothing() -> None:
    shelf: Remembered = Shelf(10_000)
    known = empty(1000, shelf)
    keep(known, "resp_1", {"input": "Hi"}, [])
    on(known, "a")
    keep(known, "resp_2", {"input": "Hi"}, [])
    known.close()
    assert not shelf


def test_attack_14_who_cannot_pay_for_the_work_may_come_again() -> None:
    asked: list[int] = []

    def refuse(weight: int) -> None:
        asked.append(weight)
        raise ClientFault("no")

    known = memory()
    with pytest.raises(ClientFault, match="no"):
        list(known.unpacked("resp_1", refuse))
    assert asked[0] > 1000
    assert completed(known, {"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]


def test_attack_14_large_ones_are_packed_and_unpacked_piece_by_piece() -> None:
    known = empty(1 << 24)
    known.keep(Stored("resp_1", items_of("x" * (3 * PIECE_BYTES))))
    assert len(list(known.shelve())) == 4
    pieces = list(known.unpacked("resp_1", free))
    assert len(pieces) == 4
    (item,) = jsontext.loads(b"".join(pieces))
    assert len(item["content"]) == 3 * PIECE_BYTES


def test_a_turn_that_failed_after_all_is_not_kept_by_the_next() -> None:
    known = empty()
    known.keep(Stored("resp_1", items_of("Hi")))
    known.begin(None)
    assert list(known.shelve()) == []
    assert missed(known, "resp_1")
