"""Who reads what was said in a request, to show it to a person, each with inputs that grow."""

from collections.abc import Callable, Mapping
from typing import Any

from proxy.core.inspected.difference import compared
from proxy.core.inspected.events import events
from proxy.core.inspected.said import said_by_model, said_to_client
from proxy.core.inspected.taken_out import pieces
from proxy.core.profile import DEFAULT
from tests.growth.work import Make
from tests.support.replies import chunk

ADDED = (
    '{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","arguments":""}}'
)
FRAGMENT = '{"type":"response.function_call_arguments.delta","output_index":0,"delta":"%s"}' % (32 * "a")


def _of(make: Callable[[int], Any], read: Callable[[Any], object]) -> Make:
    def prepared(n: int) -> Callable[[], object]:
        made = make(n)
        return lambda: read(made)

    return prepared


def _bodies(left: Callable[[int], Any], right: Callable[[int], Any]) -> Make:
    return _of(lambda n: (left(n), right(n)), lambda both: compared(*both))


def _texts(n: int) -> list[str]:
    return [f"text {number} of a message" for number in range(n)]


INSPECTED: Mapping[str, Make] = {
    "compared: the same": _bodies(_texts, _texts),
    "compared: moved": _bodies(lambda n: {"input": _texts(n)}, lambda n: {"messages": _texts(n)[::-1]}),
    "compared: parts": _bodies(_texts, lambda n: ["".join(_texts(n))]),
    "compared: nothing alike": _bodies(_texts, lambda n: [f"another {number}" for number in range(n)]),
    "compared: wide": _bodies(lambda n: {str(number): [number, {}] for number in range(n)}, lambda n: {}),
    "events: many": _of(lambda n: [(0.0, b"event: a\ndata: {}\n\n")] * n, events),
    "events: cut": _of(lambda n: [(0.0, b"data: ")] + [(0.0, b"x" * 7)] * n, events),
    "events: no stream": _of(lambda n: [(0.0, b"{}")] * n, events),
    "said by a model": _of(lambda n: [chunk(content="a ")] * n, lambda told: said_by_model(told, DEFAULT)),
    "said by a model: a call": _of(
        lambda n: [chunk(tool_calls=[{"index": 0, "function": {"arguments": 32 * "a"}}])] * n,
        lambda told: said_by_model(told, DEFAULT),
    ),
    "said to a client: a call": _of(
        lambda n: [ADDED] + [FRAGMENT] * n, lambda told: said_to_client(told, None)
    ),
    "said to a client": _of(
        lambda n: ['{"type":"response.output_text.delta","delta":"a"}', '{"choices":[{"delta":{"content":"a"}}]}'] * n,
        lambda told: said_to_client(told, None),
    ),
    "said at once": _of(
        lambda n: {"output": [{"type": "function_call", "name": "f", "arguments": {"a": 1}}] * n},
        lambda answer: said_to_client((), answer),
    ),
    "taken out: much": _of(lambda n: "<call>word " * n, lambda text: pieces(text, text.replace("<call>", ""))),
    "taken out: nothing alike": _of(lambda n: "ab" * n, lambda text: pieces(text, text.replace("b", "c"))),
}  # fmt: skip
