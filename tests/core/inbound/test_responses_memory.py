"""A request that continues another is completed: previous input, previous output, new input, and nothing else."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.inbound.responses_memory import MAX_LANES, LatestResponses, NoMemory, known_items
from tests.tables import table

USER = {"type": "message", "role": "user", "content": "Hi"}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
MORE = {"type": "message", "role": "user", "content": "More"}


def memory(limit: int = 1000) -> LatestResponses:
    known = LatestResponses(limit)
    known.keep("resp_1", {"input": "Hi", "instructions": "Be brief."}, [ANSWER])
    return known


def missed(known: LatestResponses, previous: str) -> ClientFault:
    with pytest.raises(ClientFault) as refused:
        known.completed({"previous_response_id": previous})
    return refused.value


def test_a_request_that_continues_nothing_is_complete() -> None:
    body = {"input": "Hi", "previous_response_id": None}
    assert memory().completed(body) is body


def test_where_nothing_is_kept_a_request_stays_as_it_is() -> None:
    body = {"input": "Hi", "previous_response_id": "resp_1"}
    NoMemory().keep("resp_1", body, [])
    assert NoMemory().completed(body) is body


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
    assert memory().completed(body) == {"model": "m", "input": [USER, ANSWER, *new]}
    assert body["previous_response_id"] == "resp_1"


def test_what_is_no_input_is_said_to_be_none() -> None:
    with pytest.raises(ClientFault, match="input must be a string or an array of items, got number"):
        memory().completed({"input": 5, "previous_response_id": "resp_1"})


def test_what_is_no_id_is_left_to_whoever_checks_types() -> None:
    body = {"previous_response_id": 5}
    assert memory().completed(body) is body


def test_a_conversation_grows() -> None:
    known = memory()
    known.keep("resp_2", known.completed({"input": "More", "previous_response_id": "resp_1"}), [ANSWER])
    assert known.completed({"previous_response_id": "resp_2"})["input"] == [USER, ANSWER, MORE, ANSWER]


def test_only_the_newest_is_known() -> None:
    known = memory()
    known.keep("resp_2", {"input": "More"}, [])
    fault = missed(known, "resp_1")
    assert (fault.status, fault.code, fault.param) == (
        400,
        "previous_response_not_found",
        "previous_response_id",
    )
    assert known.completed({"previous_response_id": "resp_2"})["input"] == [MORE]


def test_a_continuation_that_does_not_come_to_a_good_end_has_evicted_what_it_continued() -> None:
    known = memory()
    known.completed({"previous_response_id": "resp_1"})
    assert missed(known, "resp_1").code == "previous_response_not_found"


def test_a_failure_elsewhere_leaves_it_known() -> None:
    known = memory()
    known.completed({"input": "something else"})
    missed(known, "resp_0")
    assert known.completed({"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]


def test_what_is_too_long_is_forgotten() -> None:
    known = memory(limit=200)
    assert known.completed({"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    known.keep("resp_2", {"input": "x" * 200}, [])
    missed(known, "resp_2")


@table(("sent", "known"), [({"input": "Hi"}, 2), ({"input": [MORE, MORE]}, 2), ({}, 2)])
def test_the_items_that_its_client_did_not_send_are_counted(sent: dict[str, Any], known: int) -> None:
    """Places in messages are those of the client's own list."""
    body = sent | {"previous_response_id": "resp_1"}
    assert known_items(body, memory().completed(body)) == known


# ── lanes ──


def on(known: LatestResponses, lane: str | None) -> LatestResponses:
    known.lane = lane
    return known


def test_v05_each_lane_has_a_newest_response_of_its_own() -> None:
    known = memory()
    on(known, "b").keep("resp_2", {"input": "More"}, [])
    on(known, "b").keep("resp_3", {"input": "More"}, [])
    missed(known, "resp_2")
    assert on(known, "b").completed({"previous_response_id": "resp_3"})["input"] == [MORE]
    assert on(known, None).completed({"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]


def test_v05_another_lane_forks_and_takes_nothing_away() -> None:
    known = memory()
    for _ in range(2):
        assert on(known, "fork").completed({"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    assert on(known, None).completed({"previous_response_id": "resp_1"})["input"] == [USER, ANSWER]
    missed(known, "resp_1")


def test_v05_what_is_oldest_is_forgotten_when_there_are_too_many_lanes() -> None:
    known = LatestResponses(10_000)
    for number in range(MAX_LANES + 1):
        on(known, f"lane-{number}").keep(f"resp_{number}", {"input": "Hi"}, [])
    missed(known, "resp_0")
    for number in range(1, MAX_LANES + 1):
        assert on(known, "fork").completed({"previous_response_id": f"resp_{number}"})["input"] == [USER]


def test_v05_all_lanes_together_have_the_room_of_one() -> None:
    """Else a connection could hold sixteen times as much."""
    known = LatestResponses(1000)
    for lane in "abc":
        on(known, lane).keep(f"resp_{lane}", {"input": "x" * 400}, [])
    missed(known, "resp_a")
    on(known, "d").keep("resp_d", {"input": "x" * 1000}, [])
    missed(known, "resp_d")
    for lane in "bc":
        assert on(known, lane).completed({"previous_response_id": f"resp_{lane}"})["input"]


def test_attack_22_so_is_what_cannot_be_read_at_once() -> None:
    """Though no message of it was too large, all together are."""
    known = memory(limit=1 << 24)
    items = [{**USER, "x": [[]] * 300_000}]
    known.keep("resp_2", {"input": items}, [])
    known.completed({"previous_response_id": "resp_2"})
    known.keep("resp_3", {"input": items * 2}, [])
    assert missed(known, "resp_3").code == "previous_response_not_found"
