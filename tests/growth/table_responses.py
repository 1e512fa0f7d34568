"""Who reads what a Responses backend says, and writes what it is asked, each with inputs that grow."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.target import Target
from proxy.core.dialects.registry import spoken_by
from proxy.core.flow.request import prepared_for
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from tests.growth.work import Make
from tests.support.chat_requests import assistant, call, result, tool, user
from tests.support.responses_requests import (
    MODEL,
    OPENAI,
    Json,
    added,
    done,
    event,
    function_call,
    message,
    output_text,
    over,
    reasoning,
    sealed,
)

URL = "http://127.0.0.1/v1/responses"
NOTE = {"type": "url_citation", "start_index": 0, "end_index": 1}


def _decoded(events: Callable[[int], Iterable[Json]], *, whole: bool = False) -> Make:
    def make(n: int) -> Callable[[], object]:
        said = [jsontext.dumps(one) for one in events(n)]
        decoder = spoken_by(OPENAI).decoder(
            lambda delta: None, OPENAI, Ledger(), lambda extras: None, model=MODEL
        )
        feed = decoder.body if whole else lambda data: decoder.event(data, b"")

        def work() -> None:
            for data in said:
                feed(data)

        return work

    return make


def _items(n: int) -> list[Json]:
    """Of each kind so many."""
    search: Json = {"type": "web_search_call", "status": "completed"}
    return [
        item
        for i in range(n)
        for item in (
            reasoning("a", "b", id=f"rs{i}", encrypted_content="x"),
            search | {"id": f"ws{i}"},
            message(output_text("a", annotations=[NOTE]), id=f"m{i}"),
            function_call("{}", f"c{i}", id=f"f{i}"),
        )
    ]


def _response(n: int) -> Json:
    whole: Json = over(*_items(n))["response"]
    return whole


def _many_parts(n: int) -> Json:
    parts = [output_text("a", annotations=[NOTE])] * n
    whole: Json = over(message(*parts), reasoning(*["a"] * n))["response"]
    return whole


def _text(words: str, number: Any = 0) -> Json:
    return event("output_text.delta", delta=words, item_id="msg_1", content_index=number)


def _asked(turns: Callable[[int], list[Any]]) -> Make:
    def make(n: int) -> Callable[[], object]:
        request = Request(MODEL, turns(n))
        return lambda: prepared_for(request, Target("growth", URL, OPENAI), MODEL, URL, Ledger())

    return make


def _history(n: int) -> list[Any]:
    return [
        turn
        for i in range(n)
        for turn in (
            user("a"),
            assistant(sealed(), "a", call(f"c{i}"), call(f"d{i}")),
            tool(result(f"c{i}", "a"), result(f"d{i}", "b")),
        )
    ]


RESPONSES: Mapping[str, Make] = {
    "a whole response": _decoded(lambda n: [_response(n)], whole=True),
    "a whole response of one item": _decoded(lambda n: [_many_parts(n)], whole=True),
    "items in events": _decoded(
        lambda n: [event for item in _items(n) for event in (added(item), done(item))] + [over(*_items(n))]
    ),
    "items that never end": _decoded(lambda n: [added(item) for item in _items(n)] + [over(*_items(n))]),
    "items at one place": _decoded(lambda n: [added(item | {"id": ""}, 0) for item in _items(n)]),
    "ends without beginnings": _decoded(lambda n: [done(item | {"id": ""}) for item in _items(n)]),
    "items under other names at the end": _decoded(
        lambda n: [
            *(done(item) for item in _items(n)),
            over(*(item | {"id": f"x{i}"} for i, item in enumerate(_items(n)))),
        ]
    ),
    "a text and its repetitions": _decoded(
        lambda n: [*[_text("a")] * n, event("output_text.done", text="a" * n), over(message("a" * n))]
    ),
    "a text, and short ends of it": _decoded(
        lambda n: [each for _ in range(n) for each in (_text("a"), event("output_text.done", text="b"))]
    ),
    "parts of a text": _decoded(lambda n: [_text("a", i) for i in range(n)]),
    "arguments in pieces": _decoded(
        lambda n: [
            added(function_call()),
            *[event("function_call_arguments.delta", delta="1", item_id="fc_1")] * n,
            done(function_call("1" * n)),
        ]
    ),
    "summaries in parts": _decoded(
        lambda n: [event("reasoning_summary_text.delta", delta="a", summary_index=i) for i in range(n)]
    ),
    "annotations": _decoded(
        lambda n: [*[event("output_text.annotation.added", annotation=NOTE)] * n, done(message("a"))]
    ),
    "errors in a response": _decoded(
        lambda n: [event("failed", response={"error": {"code": "invalid_prompt", "message": "a" * n}})]
    ),
    "a history, for a Responses backend": _asked(_history),
}
