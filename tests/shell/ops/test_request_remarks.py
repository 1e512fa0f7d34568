"""What was strange about a request, in a few words."""

from proxy.shell.ops.request_remarks import remarks


def test_each_counter_is_told_in_words() -> None:
    counted = {"markup": {"recovered:hermes": 2}, "oddities": {"call_repeated": 1}, "dropped": {"stop": 1}}
    assert list(remarks(counted)) == [
        "2 × a tool call in the text became a call (hermes)",
        "odd: call repeated",
        "not passed on: stop",
    ]


def test_a_backend_that_does_everything_wrong_has_a_short_line() -> None:
    found = list(remarks({"oddities": {f"odd_{number}": 1 for number in range(9)}}))
    assert len(found) == 4
    assert found[-1] == "and 6 more like that"


def test_nothing_strange_is_nothing_to_tell() -> None:
    assert list(remarks({"status": 200})) == []
