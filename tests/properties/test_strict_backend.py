"""Whatever we accept from a client, what we make of it is accepted by a backend that forgives nothing (G1–G12)."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.chat.encode import encode
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.surfaces.responses.decode import decode
from proxy.core.tools.prepare import prepare
from proxy.demo.refusals import read

PICKY = ("default", "openai", "together", "lmstudio", "chutes")
"""Profiles whose dialect is the plain one, in which the strict backend is versed."""

text = st.sampled_from(["", "hi", "two\nlines", "\x00", "ünï", '{"a": 1}'])
names = st.sampled_from(["get_weather", "get_time", "ns__tool", "a-b"])
call_ids = st.sampled_from(["call_1", "call_2", "x" * 64, "with space", "é"])
arguments = st.sampled_from(["{}", "", '{"city": "Paris"}', "[1]", "not json", '"text"'])
schemas = st.sampled_from(
    [
        None,
        {},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"]}}, "required": ["a"]},
        {"properties": {"self": {"$ref": "#"}}},
    ]
)


parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("input_text"), "text": text}),
    st.fixed_dictionaries(
        {"type": st.just("input_image"), "image_url": st.just("data:image/png;base64,AAAA")}
    ),
)
said = st.one_of(
    text, st.lists(st.fixed_dictionaries({"type": st.just("output_text"), "text": text}), max_size=2)
)
items = st.one_of(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "system", "developer"]),
            "content": st.one_of(text, st.lists(parts, max_size=2)),
        }
    ),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": said}),
    st.fixed_dictionaries(
        {"type": st.just("function_call"), "call_id": call_ids, "name": names, "arguments": arguments}
    ),
    st.fixed_dictionaries(
        {"type": st.just("custom_tool_call"), "call_id": call_ids, "name": names, "input": text}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call_output"),
            "call_id": call_ids,
            "output": st.one_of(text, st.lists(parts, max_size=2)),
        }
    ),
    st.fixed_dictionaries({"type": st.just("custom_tool_call_output"), "call_id": call_ids, "output": text}),
    st.fixed_dictionaries(
        {
            "type": st.just("reasoning"),
            "summary": st.lists(
                st.fixed_dictionaries({"type": st.just("summary_text"), "text": text}), max_size=1
            ),
        }
    ),
)
tools = st.one_of(
    st.builds(
        lambda name, parameters, description, strict: {
            "type": "function",
            "name": name,
            "parameters": parameters,
            "description": description,
            "strict": strict,
        },
        names,
        schemas,
        st.sampled_from([None, "", "A tool."]),
        st.sampled_from([None, True, False]),
    ),
    st.builds(lambda name: {"type": "custom", "name": name}, names),
    st.sampled_from([{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}]),
)
requests = st.fixed_dictionaries(
    {"model": st.just("demo"), "input": st.one_of(text, st.lists(items, max_size=6))},
    optional={
        "instructions": text,
        "tools": st.lists(tools, max_size=3),
        "tool_choice": st.sampled_from(
            ["auto", "none", "required", {"type": "function", "name": "get_weather"}]
        ),
        "parallel_tool_calls": st.booleans(),
        "stream": st.booleans(),
        "temperature": st.sampled_from([0, 0.5, 2]),
        "top_logprobs": st.sampled_from([0, 3]),
        "max_output_tokens": st.integers(16, 100),
        "reasoning": st.sampled_from([{"effort": "low"}, {"effort": "none"}, None]),
        "text": st.sampled_from(
            [
                {"format": {"type": "text"}},
                {"format": {"type": "json_object"}},
                {
                    "format": {
                        "type": "json_schema",
                        "name": "x",
                        "schema": {"type": "object"},
                        "strict": True,
                    }
                },
                {"verbosity": "low"},
            ]
        ),
        "store": st.just(False),
        "metadata": st.just({"a": "b"}),
        "user": st.just("me"),
    },
)


@given(requests, st.sampled_from(PICKY))
def test_what_we_send_offends_no_strict_backend(body: dict[str, Any], profile_name: str) -> None:
    ledger, profile = Ledger(), PROFILES[profile_name]
    try:
        request = decode(body, ledger)
        prepared = prepare(request, profile, ledger)
    except ClientFault:
        assume(False)
        raise
    read(jsontext.dumps(encode(request, prepared, profile, "demo", ledger)))
