"""What a client was told, read by a reader that forgives nothing, and whether it was the truth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from proxy.core import jsontext
from tests.load.client import Answer
from tests.load.requests import Ask
from tests.support.chat_streams import read_chat_stream
from tests.support.replies import TERMINAL, read_stream

Ending = Literal["completed", "failed", "refused", "left", "broken"]
"""Failed: told within a stream. Refused: told by a status. Left: the client went. Broken: told by nobody."""

SPARED = "server_is_overloaded"
"""The breaker's answer, and that to a backend which refuses."""
OUR_OWN = "server_error"
"""The code of bugs of ours."""


@dataclass(frozen=True)
class Told:
    ending: Ending
    text: str = ""
    code: str = ""


def told(ask: Ask, answer: Answer) -> Told:
    """AssertionError, in words, for a stream that breaks a promise: its numbers, its pairs, its one ending."""
    body = bytes(answer.body)
    if answer.left:
        complete = body[: body.rfind(b"\n\n") + 2] if ask.stream else b""
        return Told("left", ask.text_of(complete) if complete else "")
    if not answer.whole:
        return Told("broken")
    if answer.status != 200:
        return Told("refused", code=jsontext.loads(body)["error"]["code"])
    if not ask.stream:
        return Told("completed", ask.text_of(body))
    read = _responses if ask.surface == "responses" else _chat
    ending, code = read(body)
    return Told(ending, ask.text_of(body), code)


def _responses(body: bytes) -> tuple[Ending, str]:
    (final,) = [event["response"] for event in read_stream(body) if event["type"] in TERMINAL]
    assert final["status"] != "incomplete", "nothing here ends incomplete"
    return final["status"], (final["error"] or {}).get("code", "")


def _chat(body: bytes) -> tuple[Ending, str]:
    last = read_chat_stream(body)[-1]
    return ("failed", last["error"]["code"]) if "error" in last else ("completed", "")


def violation(ask: Ask, answer: Answer, *, disturbed: bool) -> tuple[str, str | None]:
    """How it ended, in short, and what was wrong with that. `disturbed`: the backend died meanwhile, or was not yet
    back."""
    try:
        said = told(ask, answer)
    except (AssertionError, LookupError, ValueError) as error:
        return "broken", f"no valid answer: {error}"
    complaint = ask.script.complaint(said.text, whole=said.ending == "completed")
    wrong = next((words for words, is_so in RULES if is_so(ask, said, disturbed)), None) or complaint
    return f"{said.ending} {said.code}".rstrip(), wrong


RULES: tuple[tuple[str, Callable[[Ask, Told, bool], bool]], ...] = (
    ("the connection broke and no ending was told", lambda ask, said, disturbed: said.ending == "broken"),
    ("a bug of the proxy", lambda ask, said, disturbed: said.code == OUR_OWN),
    (
        "a false completed",
        lambda ask, said, disturbed: said.ending == "completed" and ask.script.ending != "well",
    ),
    (
        "lost: nothing was wrong with the backend",
        lambda ask, said, disturbed: (
            said.ending in ("failed", "refused")
            and ask.script.ending == "well"
            and not disturbed
            and said.code != SPARED
        ),
    ),
)
