"""A number that a backend has counted, or nothing: nobody guesses."""

import pytest

from proxy.core.backends.counter import TokenCounter, not_offered, picked, shows_no_counter
from proxy.core.errors import BackendFault, ClientFault, Fault, Garbled
from tests.support.tables import table

COUNTER = TokenCounter(lambda target, model: "", lambda body, model: body, "count")


@table(("answer", "count"), [(b'{"count":7,"tokens":[1]}', 7), (b'{"count":0}', 0)])
def test_the_number_is_a_member_of_the_answer(answer: bytes, count: int) -> None:
    assert COUNTER.read(answer) == count


@table(
    "answer",
    [b"", b"7", b"[7]", b"null", b"{}", b'{"count":null}', b'{"count":-1}', b'{"count":7.0}', b'{"count":true}',
     b'{"count":[7]}', b'{"count":"7"}', b"<html>", b'{"count":7'],
)  # fmt: skip
def test_what_is_no_number_is_no_answer(answer: bytes) -> None:
    with pytest.raises(Garbled, match="without a number"):
        COUNTER.read(answer)


def test_only_what_a_counter_takes_is_sent() -> None:
    assert picked({"model": "m", "stream": True, "n": None}, ("n", "model", "tools")) == {
        "n": None,
        "model": "m",
    }


@table(
    ("fault", "expected"),
    [
        (BackendFault("No path.", code="upstream_not_found"), True),
        (ClientFault("Field required: prompt (missing)", param="prompt"), True),
        (ClientFault("Wrong.", param="tools"), False),
        (BackendFault("Broken."), False),
    ],
)
def test_a_backend_shows_that_it_has_no_counter(fault: Fault, expected: bool) -> None:
    assert shows_no_counter(fault) is expected


def test_where_there_is_no_counter_no_later_try_helps() -> None:
    fault = not_offered()
    assert (fault.status, fault.code, fault.param) == (400, "unsupported_parameter", None)
    assert fault.headers["X-Should-Retry"] == "false"
