"""Events that are read by a template say what they say when each is read as a whole."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.dialects.chat.template import SHORT
from proxy.core.events import Delta
from proxy.core.ledger import Ledger
from proxy.core.profile import DEFAULT
from tests.properties.examples import examples

strings = st.one_of(
    st.text(max_size=3).map(jsontext.dumps),
    st.sampled_from(
        [
            *(
                b"null",
                b"1",
                b"[]",
                b'["a"]',
                b"{}",
                b'""',
                b' "a" ',
                b'"\\u00e9"',
                b'"\\ud83d"',
                b'"\\ude00"',
            ),
            *(b'"a","content":"b"', b'"a"},"x":{"content":"b"', b'"\xff"', b'"\n"', b'"a', b"a", b""),
        ]
    ),
)
deltas = st.sampled_from(
    [
        b'{"content":%b}',
        b'{"role":"assistant","content":%b}',
        b'{"content": %b, "reasoning_content": null}',
        b'{"reasoning_content":%b,"content":null}',
        b'{"reasoning":%b}',
        b'{"tool_calls":[{"index":0,"function":{"arguments":%b}}]}',
        b'{"content":null,"tool_calls":[{"index":1,"id":null,"function":{"name":null,"arguments":%b}}]}',
        b'{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":%b}}]}',
        b'{"content":"a","content":%b}',
        b'{"content":%b,"content":"a"}',
    ]
)
chunks = st.sampled_from(
    [
        b'{"created":7,"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":null}]}',
        b'{"created":8,"choices":[{"index":0,"delta":%b}]}',
        b'{"echo":{"content":"a"},"choices":[{"delta":%b}]}',
        b'{"choices":[{"delta":%b,"finish_reason":"stop"}]}',
        b'{"choices":[{"delta":%b}],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
        b'{"choices":[{"index":1,"delta":%b}]}',
    ]
)
runs = st.builds(
    lambda chunk, delta, said: [chunk % (delta % string) for string in said],
    chunks,
    deltas,
    st.lists(strings, min_size=1, max_size=6),
)
streams = st.lists(runs, max_size=4).map(lambda lists: [event for run in lists for event in run])


def decoded(events: list[bytes], *, whole: bool) -> tuple[list[Delta], dict[str, int]]:
    said: list[Delta] = []
    ledger = Ledger()
    decoder: Any = ChatDecoder(said.append, DEFAULT, ledger)
    if whole:
        decoder._template.end()
    for event in [b'{"choices":[{}]}'] * SHORT + events:
        decoder.event(event, b"")
    return said, dict(ledger.oddities)


@examples(600)
@given(streams)
def test_a_template_reads_what_the_whole_event_says(events: list[bytes]) -> None:
    by_template, as_wholes = decoded(events, whole=False), decoded(events, whole=True)
    assert repr(by_template) == repr(as_wholes)
