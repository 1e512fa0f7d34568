"""What is not as it was recorded."""

from dataclasses import replace

from proxy.core.recorded.difference import differences, differences_of_posts, shape
from proxy.core.recorded.faults import recorded_fault
from proxy.core.recorded.replay import How, Replayed, replay
from tests.support.recordings import HELLO, as_it_is, attempt, recording


def test_what_is_the_same_has_none() -> None:
    made = as_it_is(recording())
    assert differences(made, replay(made)) == []
    whole = as_it_is(recording({"model": "m", "input": "Hi"}))
    assert differences(whole, replay(whole)) == []


def test_what_differs_is_said() -> None:
    made = as_it_is(recording())
    other = replay(recording(attempts=[attempt(*(data.replace(b"Hel", b"Yel") for data in HELLO))]))
    found = differences(made, other)
    assert any(line.startswith("-") and "Hello" in line for line in found)
    assert any(line.startswith("+") and "Yello" in line for line in found)


def test_how_text_is_cut_matters_only_where_the_bytes_are_the_same() -> None:
    made = as_it_is(recording())
    cut = replay(made, How(cut="whole"))
    joined = replay(recording(attempts=[attempt(HELLO[0].replace(b"Hel", b"Hello"), *HELLO[2:])]))
    assert differences(made, cut, cut=True) == []
    assert differences(made, joined, cut=True) == []
    assert differences(made, joined) == ["The frames differ in how text is cut."]


def test_a_refusal_is_compared_by_its_body_and_its_status() -> None:
    refused = recording({"model": "m", "input": 7}, [], status=400)
    again = replay(refused)
    assert again.fault is not None
    told = recorded_fault(again.fault)
    same = replace(refused, end=replace(refused.end, fault=told))
    assert differences(same, again) == []
    assert differences(replace(same, end=replace(same.end, status=422)), again)[-1] == (
        "The status was 422, and is 400 now."
    )
    assert differences(same, Replayed(status=400)) != []


def test_what_was_made_after_a_client_had_left_is_not_compared() -> None:
    made = as_it_is(recording())
    left = replace(made, end=replace(made.end, status=499))
    assert differences(left, replay(left)) == []


def test_of_what_is_masked_only_the_form_is_compared() -> None:
    event = {"type": "a", "item": {"encrypted_content": "rp1.x", "texts": ["one", "two"], "n": 1}}
    told = {"type": "a", "item": {"encrypted_content": "packed", "texts": [3, 3], "n": 1}}
    assert shape(event) == told


def test_in_what_a_backend_is_asked_otherwise() -> None:
    assert differences_of_posts([b'{"a":1}'], [b'{ "a": 1 }']) == []
    assert differences_of_posts([b'{"a":1}'], [b'{"a":2}'])[-2:] == ["-{'a': 1}", "+{'a': 2}"]
