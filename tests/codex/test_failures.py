"""What goes wrong behind the proxy: what Codex tells its user, and how often it asks the backend before it does.

Codex asks again up to five times, with growing pauses, what a stream reports as failed, and up to thirty times what an
HTTP status reports as the server's fault.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.codex.backend import Model, Request, Step, cut, cut_after, shell
from tests.codex.harness import Codex
from tests.node import packages
from tests.support.programs import proxying
from tests.support.sockets import DONE, END, HEAD, Line, answer, delta, event, finish, reply, text, usage

PATIENT = """
[breaker]
consecutive_failures = 1000
minimum_requests = 1000
"""
"""The breaker would spare the backend, which fails in nearly every test, and the tests would not see who asks it."""
RETRIES = 2
"""Of a stream. Codex has five when nobody configures it, with pauses that double."""
FEWER_RETRIES = f"stream_max_retries = {RETRIES}"
NOBODY = "http://127.0.0.1:9/v1"
QUICK_HEARTBEAT = """
[server]
heartbeat_seconds = 0.5
patience_seconds = 0.5
"""


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> bytes:
    return answer(status, {"error": {"message": message, "type": code, "code": code}}, **headers)


def ending(*pieces: bytes) -> bytes:
    return b"".join((HEAD, *pieces, END))


TOO_LONG = (
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
)

FINAL: dict[str, tuple[Step, str]] = {
    "bad request": (refusal(400, "top_k is not welcome here"), "top_k is not welcome here"),
    "context": (refusal(400, TOO_LONG), "ran out of room"),
    "key": (refusal(401, "Incorrect API key provided"), "wants an API key"),
    "no such model": (
        refusal(404, "There is no model qwen3-coder", "model_not_found"),
        "no model qwen3-coder",
    ),
    "no credit": (refusal(402, "Your credit is used up"), "Quota exceeded"),
    "forbidden": (refusal(403, "Not in your region"), "Not in your region"),
    "too large": (refusal(413, "The image is too large"), "image is too large"),
    "context by status": (answer(413, b""), "ran out of room"),
    "unprocessable": (refusal(422, "This field is not for you"), "not for you"),
    "quota": (refusal(429, "You exceeded your current quota", "insufficient_quota"), "Quota exceeded"),
    "filter": (ending(text("Hel"), finish("content_filter"), usage(), DONE), "content"),
    "length": (ending(text("Hel"), finish("length"), usage(), DONE), "max_output_tokens"),
}
"""Asking again would not help, so it is asked once."""

PASSING: dict[str, tuple[Step, str]] = {
    "limited": (refusal(429, "Slow down please"), "Slow down please"),
    "limited for a second": (refusal(429, "Slow down please", Retry_After="1"), "Slow down please"),
    "broken": (refusal(500, "The backend tripped"), "The backend tripped"),
    "gateway": (answer(502, b"<html>Bad gateway</html>"), "The backend failed"),
    "overloaded": (refusal(503, "The backend is busy"), "The backend is busy"),
    "timed out": (refusal(408, "The request took too long"), "took too long"),
    "conflict": (refusal(409, "The deployment is being changed"), "being changed"),
    "too slow": (refusal(504, "The model did not answer in time"), "did not answer in time"),
    "overloaded by another name": (refusal(529, "Too many people"), "Too many people"),
    "error in the stream": (ending(text("Hel"), event({"error": {"message": "It tripped"}})), "It tripped"),
    "cut": (cut, "broke off its answer"),
    "no end": (ending(text("Hel")), "stopped before the reply was finished"),
    "empty": (ending(finish(), usage(), DONE), "without an answer"),
    "thoughts alone, V21": (
        ending(delta(reasoning_content="Hm."), finish(), usage(), DONE),
        "without an answer",
    ),
}
"""It may help to ask again."""


@pytest.fixture(scope="module")
def patient_proxy(backend: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxying(backend.url, tmp_path_factory.mktemp("proxy"), PATIENT) as url:
        yield url


@pytest.fixture
def proxy(patient_proxy: str) -> str:
    return patient_proxy


@pytest.mark.parametrize(("step", "shown"), FINAL.values(), ids=FINAL)
def test_what_is_final_is_asked_once(codex: Codex, model: Model, step: Step, shown: str) -> None:
    codex.configure(provider=FEWER_RETRIES)
    model.plays(step)
    run = codex.run("Hello")
    assert run.failure is not None
    assert shown in run.failure
    assert (len(model.requests), run.retries) == (1, 0)


@pytest.mark.parametrize(("step", "shown"), PASSING.values(), ids=PASSING)
def test_what_may_pass_is_asked_a_few_times_more(codex: Codex, model: Model, step: Step, shown: str) -> None:
    codex.configure(provider=FEWER_RETRIES)
    model.plays(step)
    run = codex.run("Hello")
    assert run.failure is not None
    assert shown in str(run.events)
    assert run.retries == RETRIES
    assert len(model.requests) == 1 + RETRIES


@pytest.mark.parametrize("name", ["limited for a second", "broken", "error in the stream", "cut"])
def test_what_has_passed_is_no_failure(codex: Codex, model: Model, name: str) -> None:
    model.plays(PASSING[name][0], reply(text("Here I am.")))
    run = codex.run("Hello")
    assert run.failure is None
    assert run.said[-1] == "Here I am."
    assert len(model.requests) == 2


def test_a_backend_that_is_not_there_is_named_as_the_reason(tmp_path: Path) -> None:
    with proxying(NOBODY, tmp_path) as url:
        codex = Codex([packages.required(), packages.CODEX], f"{url}/v1", tmp_path)
        codex.configure(provider=FEWER_RETRIES)
        run = codex.run("Hello")
    assert run.failure is not None
    assert "connect" in run.failure
    assert run.retries == RETRIES


def test_nobody_is_asked_more_often_than_six_times(codex: Codex, model: Model) -> None:
    """Codex as it comes, which repeats an HTTP status of 500 thirty times and hides what it says."""
    model.plays(refusal(500, "The backend tripped"))
    run = codex.run("Hello")
    assert run.failure is not None
    assert "The backend tripped" in run.failure
    assert (len(model.requests), run.retries) == (6, 5)


@pytest.mark.parametrize("closed", [False, True], ids=["its arguments open", "its arguments closed"])
def test_a_call_that_was_cut_off_is_not_run_twice(codex: Codex, model: Model, closed: bool) -> None:
    """Codex runs whatever is done at once, and would run it again when the model repeats it."""
    arguments = '{"cmd": "echo x >> made.txt' + '"}' * closed
    function = {"name": "exec_command", "arguments": arguments}
    begun = delta(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}])
    model.plays(cut_after(begun), shell("echo x >> made.txt"), reply(text("Done.")))
    run = codex.run("Make a file")
    assert run.said == ["Done."]
    assert codex.file("made.txt") == "x\n"
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([text("To be"), text(" or not")], id="in its text"),
        pytest.param([delta(reasoning_content="Hm."), text("To be")], id="in its text, after a thought"),
        pytest.param([delta(reasoning_content="Hm.")], id="in a thought"),
    ],
)
def test_v02_the_retry_of_a_stream_that_broke_is_the_same_request_again(
    codex: Codex, model: Model, said: list[bytes]
) -> None:
    """With a fragment in its history the model would go on from it, or say it twice."""
    model.plays(cut_after(*said), reply(text("To be or not to be.")), reply(text("Done.")))
    run = codex.run("Recite")
    assert run.said == ["To be or not to be."]
    first, second = model.requests
    assert first["messages"] == second["messages"]


def test_commands_before_a_failure_are_kept(codex: Codex, model: Model) -> None:
    model.plays(shell("echo x >> made.txt"), refusal(503, "The backend is busy"), reply(text("Done.")))
    run = codex.run("Make a file")
    assert run.said == ["Done."]
    assert codex.file("made.txt") == "x\n"
    assert [message["role"] for message in model.requests[2]["messages"]][-2:] == ["assistant", "tool"]


@pytest.mark.parametrize(
    ("begun", "silence", "patience", "settings"),
    [
        pytest.param(False, 3, 1.5, QUICK_HEARTBEAT, id="before its first word"),
        pytest.param(True, 3, 1.5, QUICK_HEARTBEAT, id="within its answer"),
        pytest.param(True, 20, 10, "", id="with the proxy as it comes"),
    ],
)
def test_a_model_may_be_silent_longer_than_codex_waits(
    backend: Model, tmp_path: Path, begun: bool, silence: float, patience: float, settings: str
) -> None:
    async def ponder(line: Line, request: Request) -> None:
        line.send(HEAD, text("Hel") if begun else b"")
        await asyncio.sleep(silence)
        line.send(text("lo") if begun else text("Hello"), finish(), usage(), END)

    backend.plays(ponder)
    with proxying(backend.url, tmp_path, settings) as url:
        codex = Codex([packages.required(), packages.CODEX], f"{url}/v1", tmp_path)
        codex.configure(provider=f"stream_idle_timeout_ms = {patience * 1000:.0f}\n{FEWER_RETRIES}")
        run = codex.run("Hello")
    assert (run.failure, run.said) == (None, ["Hello"])
    assert len(backend.requests) == 1
