"""Who reads what backends and models say, each with inputs that grow."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any

from proxy.core import jsontext, logprobs
from proxy.core.backends import profiles
from proxy.core.dialects.reading import error_body
from proxy.core.dialects.reading.echoes import Echoes
from proxy.core.dialects.reading.lessons import advice
from proxy.core.dialects.registry import DIALECTS, spoken_by
from proxy.core.dialects.writing import data_urls
from proxy.core.errors import Fault
from proxy.core.events import Finish, FinishDelta, TextDelta
from proxy.core.ledger import Ledger
from proxy.core.markup import jsonish, registry, values
from proxy.core.markup.formats import Format
from proxy.core.masking import headers, redact, secrets
from proxy.core.model import ToolKind
from proxy.core.recorded.keys import Keys, without_keys
from proxy.core.recorded.masking import Masker
from proxy.core.schemas import patterns
from proxy.core.sse import SseParser
from proxy.core.stream.prompted import PromptedSplitter
from proxy.core.tools.kinds import custom
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tracing import trace_context
from tests.core.markup.families.driver import TOOLS
from tests.growth.found import ROOT
from tests.growth.work import Make
from tests.support.recordings import attempt, recording
from tests.support.replies import DONE, STOP, call_chunk, chunk, start

Json = dict[str, Any]

PIECE = 7
"""Characters of a piece of a stream."""


def _pieces(text: Any, size: int = PIECE) -> list[Any]:
    return [text[at : at + size] for at in range(0, len(text), size)]


# ── streams ──


def _sse(unit: bytes, size: int = PIECE) -> Make:
    def make(n: int) -> Callable[[], object]:
        pieces = _pieces(unit * n, size)

        def work() -> None:
            parser = SseParser(lambda data, event: None)
            with suppress(Fault):
                for piece in pieces:
                    parser.feed(piece)
                parser.close()

        return work

    return make


def _stream(chunks: Callable[[int], Iterable[bytes]], profile: str = "default", **body: Any) -> Make:
    """Through the whole pipeline, as Responses."""

    def make(n: int) -> Callable[[], object]:
        said = list(chunks(n))
        run = start(
            {**_ASKED, **body}, profile=profiles.PROFILES.get(profile, profiles.DEFAULT), extended=True
        )

        def work() -> None:
            for one in said:
                run.pipeline.feed(one)
            run.pipeline.close()

        return work

    return make


_ASKED: Json = {
    "model": "m",
    "input": "Hi",
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "tools": [
        {
            "type": "function",
            "name": "f",
            "parameters": {"type": "object", "properties": {"a": {"type": "object"}}},
        },
        {"type": "custom", "name": "apply_patch"},
    ],
}


def _text(*pieces: str) -> Make:
    """Of a model, in pieces of its own."""
    return _stream(lambda n: [*(chunk({"content": piece}) for _ in range(n) for piece in pieces), STOP, DONE])


def _decoded(dialect: str, chunks: Callable[[int], Iterable[Any]], *, whole: bool = False) -> Make:
    """By the decoder of a dialect alone."""

    def make(n: int) -> Callable[[], object]:
        said = [jsontext.dumps(one) for one in chunks(n)]
        profile = profiles.PROFILES[dialect]
        decoder = spoken_by(profile).decoder(
            lambda delta: None, profile, Ledger(), lambda extras: None, model="m"
        )
        feed = decoder.body if whole else lambda data: decoder.event(data, b"")

        def work() -> None:
            for data in said:
                feed(data)

        return work

    return make


def _prompted(*pieces: str) -> Make:
    """Where the prompt has opened the thought."""

    def make(n: int) -> Callable[[], object]:
        splitter = PromptedSplitter(lambda delta: None, "</think>")

        def work() -> None:
            for _ in range(n):
                for piece in pieces:
                    splitter.feed(TextDelta(piece))
            splitter.feed(FinishDelta(Finish.STOP))
            splitter.close()

        return work

    return make


def _logprobs() -> bytes:
    said = {"content": [{"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}]}
    choice = {"index": 0, "delta": {"content": "a"}, "logprobs": said, "finish_reason": None}
    return b"data: " + jsontext.dumps({"choices": [choice]}) + b"\n\n"


def _echoed(n: int) -> Callable[[], object]:
    said = [f"word number {i}" for i in range(n)]
    body = jsontext.dumps({"input": said})
    refusal = " ".join(said)
    found = re.search("number", refusal)
    assert found
    return lambda: Echoes(body, refusal).source(found)


def _parts(n: int) -> list[Json]:
    call = {"functionCall": {"name": "f", "args": {}, "id": "a"}}
    return [
        {"text": "a", "thoughtSignature": "s"},
        {**call, "functionCall": {**call["functionCall"], "args": {"n": 1}}},
    ] * n


def _google(n: int) -> Json:
    calls = [{"functionCall": {"name": "f", "args": {"n": i}, "id": "a"}} for i in range(n)]
    return {"candidates": [{"content": {"parts": [*calls, *_parts(n)]}, "finishReason": "STOP"}]}


def _messages(n: int) -> Json:
    blocks: list[Json] = [
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}},
    ]
    return {
        "type": "message",
        "content": blocks * n,
        "stop_reason": "end_turn",
        "usage": {"output_tokens": 1},
    }


def _chat(n: int) -> Json:
    calls = [{"id": f"c{i}", "function": {"name": "f", "arguments": "{}"}} for i in range(n)]
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "b"}]}] * n
    return {
        "choices": [{"index": 0, "message": {"content": parts, "tool_calls": calls}, "finish_reason": "stop"}]
    }


STREAMS: Mapping[str, Make] = {
    "events": _sse(b"data: a\n\n"),
    "one long event": _sse(b"data: a"),
    "lines of one event": _sse(b"data: a\n"),
    "carriage returns": _sse(b"\r", 1),
    "comments": _sse(b":a\n\n"),
    "text": _text("Hello ", "world."),
    "blanks": _text("\n"),
    "what may begin a thought": _text("<think", ">", "</thin"),
    "a thought": _stream(
        lambda n: [chunk({"content": "<think>"}), *[chunk({"content": "</thin"})] * n, STOP]
    ),
    "a thought that the prompt has opened": _prompted("a", "</thin", "k"),
    "openers": _text("<tool_call>"),
    "calls in text, and once more": _stream(
        lambda n: [
            *[chunk({"content": '<tool_call>{"name":"f","arguments":{"a":{}}}</tool_call>'})] * 4,
            *[call_chunk(i, f"c{i}", "f", '{"a":[]}') for i in range(n)],
            STOP,
            DONE,
        ]
    ),
    "a call that does not end": _stream(
        lambda n: [
            chunk({"content": '<tool_call>{"name":"f","arguments":{"a":['}),
            *[chunk({"content": '{"a":"b<"},'})] * n,
        ]
    ),
    "calls in text": _text('<tool_call>{"name":"f","arguments":{}}</tool_call>\n'),
    "calls behind a backtick": _text('` <tool_call>{"name":"f","arguments":{}}</tool_call> '),
    "calls in an element": _text('<pre> <tool_call>{"name":"f","arguments":{}}</tool_call> and '),
    "calls of no tool": _text('<tool_call>{"name":"g","arguments":{"a":"bcdefghijklm"}}</tool_call> '),
    "calls in a row": _text('(<tool_call>{"name":"f","arguments":{}}</tool_call>', "</tool_call>"),
    "tokens of frames": _text("<|start|>assistant", "<|end|>", " <|eom|>"),
    "closers in a frame": _stream(
        lambda n: [chunk({"content": "<|message|>a"}), *[chunk({"content": "<|eom|>"})] * n, STOP, DONE]
    ),
    "a thought in a frame": _stream(
        lambda n: [
            chunk({"content": "<|START_TEXT|>a<|END_TEXT|><|START_THINKING|>b"}),
            *[chunk({"content": "<|END_THIN"})] * n,
            STOP,
            DONE,
        ]
    ),
    "fences": _text("```\n", "a\n", "``` \n", "\n"),
    "backticks": _text("`", "``", "a"),
    "lists and quotations": _text("- ", "> ", "1. a\n", "    b\n"),
    "quoted calls": _text('"<tool_call>', "</tool_call>"),
    "log probabilities": _stream(
        lambda n: [_logprobs() for _ in range(n)] + [STOP, DONE],
        include=["message.output_text.logprobs"],
    ),
    "reasoning": _stream(
        lambda n: [*[chunk({"reasoning_content": "a <"})] * n, chunk({"content": "b"}), STOP, DONE]
    ),
    "links to sources": _stream(
        lambda n: [
            *[chunk({"content": "a", "annotations": [{"url_citation": {"url": "b"}}, {}]})] * n,
            STOP,
            DONE,
        ]
    ),
    "details": _stream(
        lambda n: [
            *[chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a"}]})] * n,
            chunk({"content": "b"}),
            STOP,
            DONE,
        ],
        "openrouter",
    ),
    "arguments": _stream(
        lambda n: [
            call_chunk(0, "a", "f", '{"a":"'),
            *[call_chunk(0, args="b{")] * n,
            call_chunk(0, args='"}'),
            STOP,
            DONE,
        ]
    ),
    "arguments before the name": _stream(
        lambda n: [*[call_chunk(0, args="[{")] * n, call_chunk(0, "a", "f"), STOP, DONE]
    ),
    "arguments again and again": _stream(
        lambda n: [call_chunk(0, "a", "f", '{"a":1}'), *[call_chunk(0, args='{"a":1}')] * n]
    ),
    "calls that are checked": _stream(
        lambda n: [*[call_chunk(i, f"c{i}", "f", '{"a":{}}') for i in range(n)], STOP, DONE],
        request_options={"validate_tool_arguments": True},
    ),
    "text behind an open call": _stream(
        lambda n: [call_chunk(0, "a", "f", "{"), *[chunk({"content": "b"}), call_chunk(0, args=" ")] * n]
    ),
    "a patch": _stream(
        lambda n: [call_chunk(0, "a", "apply_patch", '{"input":"'), *[call_chunk(0, args="+a\\n")] * n, STOP]
    ),
    "pieces that are no JSON": _stream(lambda n: [b"data: {}\ndata: {}\n" * n + b"\n"]),
    "a body": _stream(lambda n: [b'{"choices":[', *[b" "] * n, b'{"message":{"content":"a"}}]}']),
    "a whole chat reply": _decoded("default", lambda n: [_chat(n)], whole=True),
    "a whole message": _decoded("anthropic", lambda n: [_messages(n)], whole=True),
    "a message in pieces": _decoded(
        "anthropic",
        lambda n: [
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "thinking", "thinking": ""},
            },
            *[
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "thinking_delta", "thinking": "a"},
                }
            ]
            * n,
            *[
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "signature_delta", "signature": "a"},
                }
            ]
            * n,
            {"type": "message_stop"},
        ],
    ),
    "a whole answer of Gemini's": _decoded("google", lambda n: [_google(n)], whole=True),
    "chunks of Gemini's": _decoded("google", lambda n: [_google(1)] * n),
}


# ── texts ──


def _on(read: Callable[[Any], object], before: Any, unit: Any, behind: Any = "") -> Make:
    def make(n: int) -> Callable[[], object]:
        text = before + unit * n + (behind or type(before)())

        def work() -> None:
            with suppress(Fault, jsontext.BadJson):
                read(text)

        return work

    return make


def _parse(text: str) -> object:
    return jsonish.parse(text, jsonish.PYTHON)


def _object(raw: str) -> object:
    return values.convert(raw, {"type": "object"}, {})


def _tokens(text: Callable[[int], str]) -> Make:
    """Those of a thought, and of the text that may follow it."""

    def make(n: int) -> Callable[[], object]:
        tokens, said = [{"token": "a"}, {"token": "b", "bytes": [98]}] * n, text(n)
        return lambda: logprobs.of_text(tokens, said)

    return make


_HIDING = secrets.Secrets(["sk-aaaaaaaaaaaaaaaaaaaaaaaa"])


def _keys_in_pieces(n: int) -> Callable[[], object]:
    read = attempt(*[b"sk-aaaaa", b"aaaaaaa "] * n)
    made = recording({"model": "m", "input": "sk-aaaaaaaaa " * n}, [read])
    return lambda: without_keys(made, Keys(_HIDING))


def _spelled_keys(n: int) -> Callable[[], object]:
    made = recording(attempts=[attempt(*[chunk({"content": letter}) for letter in "sk-aaaaaaaaa "] * n)])
    return lambda: without_keys(made, Keys(_HIDING))


TEXTS: Mapping[str, Make] = {
    "JSON of a model, nested": _on(_parse, "", "[{'a':"),
    "JSON of a model, words": _on(_parse, "{", "a: b, "),
    "JSON of a model, strings": _on(_parse, "{", "'a\\'\"': \"b'\\x41\", "),
    "JSON of a model, zeros": _on(_parse, '{"a":', "0", "x}"),
    "JSON of a model, scanned": _on(lambda text: jsonish.scan(text, 0), "[", '{"a"'),
    "values, blanks": _on(_object, "{", " "),
    "values, escaped": _on(_object, "{", '\\n\\"a'),
    "values, digits": _on(lambda raw: values.convert(raw, {"type": "number"}, {}), "", "0", "x"),
    "custom input, fences": _on(custom.unwrap, "", "~", "\na"),
    "custom input, fenced lines": _on(custom.unwrap, "```\n", "```a\n", "```"),
    "custom input, a shell command": _on(custom.unwrap, "apply_patch <<E\n", "E\n", "x"),
    **{
        f"arguments of {kind.value}": _on(BRIDGES[kind].from_function, '{"input":"', "*** a\\n", '"}')
        for kind in ToolKind
    },
    "lenient JSON": _on(jsontext.loads, b"[", b'"\\ud83d",NaN,', b"1]"),
    "whole numbers": _on(jsontext.loads, b"[", b"12345678901234567890,", b"1]"),
    "tokens of a text": _tokens(lambda n: "ab" * (n // 2)),
    "tokens of another text": _tokens(lambda n: "c" * n),
    "masked": _on(redact.masked, "-", "eyJaaaaa-"),
    "masked, named": _on(redact.masked, "", "api key: bearer "),
    "quotable": _on(redact.quotable, "", "\x00 a"),
    "headers": lambda n: partial(headers.shown_headers, {f"x-codex-{at}": "sk-aaaaaaaaa" for at in range(n)}),
    "a trace": _on(trace_context.parent_of, "01", "-0"),
    "a trace's state": _on(trace_context.state_of, "", "a=1,"),
    "keys of a recording": _on(Keys(_HIDING).spans, "", 'sk-aaaaaaaaa\\"'),
    "keys in many pieces": _keys_in_pieces,
    "keys that are spelled out": _spelled_keys,
    "words of a recording": _on(Masker(b"").bytes, b"", b'{"a":"b c","d":[1]}\n'),
    "secrets": _on(_HIDING.hidden, "", "sk-aaaaaaaaa"),
    "complaints": _on(error_body.read, b'{"error":{"message":"', b"not found ", b'"}}'),
    "advice": _on(advice, "", "tools unsupported "),
    "echoes": _echoed,
    "counted tokens": _on(DIALECTS["chat"]().counters["vllm"].read, b'{"count":1,"tokens":[', b"1,", b"1]}"),
    "data URLs": _on(lambda url: data_urls.read(url, "a"), "data:", ";a"),
    "data of data URLs": _on(lambda url: data_urls.read(url, "a"), "data:;base64,", "aaaa"),
    "patterns": _on(patterns.priced, "", "(a|b)"),
}


# ── formats of calls in text ──

HEADS = (
    "",
    '\n{"name": "get_time", "arguments": {',
    "<function=get_time>\n<parameter=city>",
    "get_time",
    '<invoke name="get_time"><parameter name="city">',
)
UNITS = ("<", '{"a":[', "\n", "a ", 'a="b" ', "<a>b</a>", "</", "[")


_FAMILY_TESTS = sorted((ROOT / "tests/core/markup/families").rglob("test_*.py"))


def _read(format: Format, head: str, unit: str) -> Make:
    return _on(lambda text: format.read(text, 0, True, TOOLS), head, unit)


def _begun(format: Format) -> list[str]:
    """The longest call that the tests of the format's family know, without its end."""
    said = [text for text in _known_calls() if text.startswith(format.openers)]
    longest = max(said, key=len, default="")
    return [longest[: len(longest) * 4 // 5]] if longest else []


@cache
def _known_calls() -> list[str]:
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in _FAMILY_TESTS)
    modules = [import_module(name) for name in names]
    return [case[0] for module in modules for case in getattr(module, "CASES", {}).values()]


FAMILIES: Mapping[str, Make] = {
    f"{format.name}: {head!r} {unit!r}": _read(format, head, unit)
    for format in registry.FORMATS
    for head in (*(format.openers[0] + head for head in HEADS), *_begun(format))
    for unit in (*UNITS, *format.closers[:1], format.openers[0])
}
"""One reading of a format's. How often a text is read is the scanner's to bound: see `FREE_WASTE` and `FREE_LOOKS`."""
