"""Each server that counts tokens has a form of its own for the question."""

from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.dialects.chat.counting import COUNTERS
from tests.support.tables import table

MESSAGES = [{"role": "user", "content": "Hi"}]
TOOLS = [{"type": "function", "function": {"name": "f"}}]
PROMPT = {"model": "m", "messages": MESSAGES, "tools": TOOLS}
ASKED = {**PROMPT, "stream": True, "max_tokens": 9, "tool_choice": "none", "reasoning_effort": "low"}
LOW = {"reasoning_effort": "low", "enable_thinking": True}


@table(
    ("name", "url", "asked"),
    [
        ("llamacpp", "http://host:8080", "http://host:8080/v1/chat/completions/input_tokens"),
        ("llamacpp", "http://host/v1/chat/completions", "http://host/v1/chat/completions/input_tokens"),
        ("sglang", "http://host:30000", "http://host:30000/v1/tokenize"),
        ("vllm", "http://host:8000", "http://host:8000/tokenize"),
        ("vllm", "http://host:8000/v1/", "http://host:8000/tokenize"),
        ("vllm", "http://host/llm/v1/chat/completions?k=v", "http://host/llm/tokenize?k=v"),
        ("vllm", "http://host/llm", "http://host/llm/tokenize"),
    ],
)
def test_where_it_is(name: str, url: str, asked: str) -> None:
    assert COUNTERS[name].url(Target("t", url, PROFILES[name]), "m") == asked


@table(
    ("name", "asked", "question"),
    [
        ("llamacpp", ASKED, ASKED),
        ("sglang", ASKED, PROMPT | {"tool_choice": "none", "reasoning_effort": "low"}),
        ("vllm", ASKED, PROMPT | {"chat_template_kwargs": LOW}),
        ("vllm", PROMPT, PROMPT),
        (
            "vllm",
            PROMPT | {"reasoning_effort": "none"},
            PROMPT | {"chat_template_kwargs": {"reasoning_effort": "none", "enable_thinking": False}},
        ),
        (
            "vllm",
            ASKED | {"chat_template_kwargs": {"enable_thinking": False, "a": 1}},
            PROMPT | {"chat_template_kwargs": LOW | {"enable_thinking": False, "a": 1}},
        ),
    ],
)
def test_what_it_is_asked(name: str, asked: dict[str, Any], question: dict[str, Any]) -> None:
    assert COUNTERS[name].body(asked, "m") == question


@table(
    ("name", "answer"),
    [
        ("llamacpp", b'{"input_tokens":14,"object":"response.input_tokens"}'),
        ("sglang", b'{"tokens":[1],"count":14,"max_model_len":-1}'),
        ("vllm", b'{"count":14,"max_model_len":9,"tokens":[1]}'),
    ],
)
def test_what_it_answers(name: str, answer: bytes) -> None:
    assert COUNTERS[name].read(answer) == 14
