"""One attempt once more; the rest is in `test_replay`."""

from proxy.core.profile import DEFAULT
from proxy.core.recorded.attempt import Signs, refusal_of
from tests.support.recordings import attempt, fault


def test_signs_come_after_as_many_bytes_as_they_did() -> None:
    sent: list[str] = []
    signs = Signs([b"abc", b"de"], [0, 1, 9], lambda: sent.append("sign"))
    signs.due()
    assert len(sent) == 1
    signs.came(2)
    signs.due()
    assert len(sent) == 1
    signs.came(1)
    signs.due()
    assert len(sent) == 2
    signs.rest()
    assert len(sent) == 3


def test_why_there_was_no_reply() -> None:
    assert refusal_of(attempt(), DEFAULT) is None
    unanswered = refusal_of(attempt(status=None, failure=fault("Unreachable", "No connection.")), DEFAULT)
    assert unanswered is not None
    assert unanswered.message == "No connection."
    assert refusal_of(attempt(status=None), DEFAULT) is not None
    refused = refusal_of(attempt(b'{"error":{"message":"no such model"}}', status=404), DEFAULT)
    assert refused is not None
    assert "no such model" in refused.message
