"""The judge of the load: what it must let pass, and everything that it must not."""

import pytest

from tests.load.client import Answer
from tests.load.judging import violation
from tests.load.requests import Ask, Surface
from tests.load.script import NO_STAMP, Ending, Script, around, parse
from tests.support.replies import DONE, chunk, run

PIECES = ["".join(("0123456789abcdef").join(around(number, "text"))) for number in range(4)]
LEFT = {"left": True}


def script(ending: Ending = "well") -> Script:
    return Script(4, ending=ending)


def stream(*pieces: str, finish: bytes = chunk({}, "stop") + DONE) -> bytes:
    """As the proxy tells what a backend said."""
    said = b"".join(chunk({"content": piece}) for piece in pieces)
    return b"".join(run(said + finish).frames)


def answer(body: bytes, status: int = 200, *, whole: bool = True, left: bool = False) -> Answer:
    return Answer(0, status, bytearray(body), whole=whole, left=left, ended=1)


WHOLE = stream(*PIECES)
CUT = stream(*PIECES[:2], finish=b"")


def judged(
    said: Answer, ending: Ending = "well", *, surface: Surface = "responses", disturbed: bool = False
) -> str:
    how, wrong = violation(Ask(script(ending), surface), said, disturbed=disturbed)
    return f"{how}: {wrong}" if wrong else how


def test_what_is_whole_is_well() -> None:
    assert judged(answer(WHOLE)) == "completed"


@pytest.mark.parametrize("ending", ["cut", "reset", "error"])
def test_a_beginning_with_an_honest_end_is_well_where_the_backend_broke(ending: Ending) -> None:
    assert judged(answer(CUT), ending) == "failed upstream_stream_truncated"


def test_a_beginning_is_well_while_the_backend_restarts() -> None:
    assert judged(answer(CUT), disturbed=True) == "failed upstream_stream_truncated"


def test_a_beginning_is_well_for_a_client_that_left() -> None:
    assert judged(answer(WHOLE[: len(WHOLE) // 2], whole=False, left=True)) == "left"


@pytest.mark.parametrize(
    ("said", "ending", "wrong"),
    [
        (answer(WHOLE), "cut", "a false completed"),
        (answer(CUT), "well", "lost: nothing was wrong with the backend"),
        (answer(CUT, whole=False), "cut", "the connection broke and no ending was told"),
        (answer(b'{"error":{"code":"server_error"}}', 500), "cut", "a bug of the proxy"),
        (
            answer(b'{"error":{"code":"upstream_unreachable"}}', 502),
            "well",
            "lost: nothing was wrong with the backend",
        ),
        (answer(WHOLE.replace(b'"sequence_number":3', b'"sequence_number":9')), "well", "no valid answer"),
        (answer(WHOLE.replace(b"data: [DONE]\n\n", b"")), "well", "no valid answer"),
        (answer(stream(PIECES[0], *PIECES[2:])), "well", "84 of 112 characters, wrong from 33"),
        (answer(stream(*PIECES[:3], PIECES[0])), "well", "112 of 112 characters, wrong from 89"),
        (answer(stream(*PIECES[1:3], finish=b"")), "cut", "56 of 112 characters, wrong from 5"),
    ],
)
def test_what_is_not(said: Answer, ending: Ending, wrong: str) -> None:
    assert wrong in judged(said, ending)


def test_a_breaker_that_spares_the_backend_may_say_so() -> None:
    spared = answer(b'{"error":{"code":"server_is_overloaded"}}', 503)
    assert judged(spared) == "refused server_is_overloaded"


def test_a_chat_stream_without_its_done_is_no_answer() -> None:
    body = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[]}\n\n'
    assert "no valid answer" in judged(answer(body), surface="chat")


def test_a_model_is_its_script() -> None:
    made = Script(40, 20, 2, "tool", "reset")
    assert parse(made.model) == made
    assert made.said == 20
    assert made.whole().startswith('{"s":"000000' + NO_STAMP)
