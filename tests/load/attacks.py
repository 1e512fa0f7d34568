"""Requests and replies that once stopped the process, or filled its memory, in the sizes in which they did.

Each is a row: what a client sends, and what a backend says to it. What becomes of them is another test's business; here
everybody else is asked, by a pulse from another process, how long they had to wait.
"""

import gzip
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from tests.support.sockets import DONE, END, HEAD, answer, finish, http_chunk, reply, text

MIB = 1 << 20
JSON = "application/json"
RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"
HELLO = reply(text("Hello"))


@dataclass(frozen=True)
class Attack:
    bodies: Callable[[], list[bytes]]
    """Sent at once, each on a connection of its own."""
    path: str = RESPONSES
    headers: dict[str, str] = field(default_factory=dict)
    reply: Callable[[], bytes] = lambda: HELLO
    profile: str = "default"
    """Of the backend."""
    method: str = "POST"
    socket: bool = False
    """Are they messages on a WebSocket?"""


def asking(**fields: Any) -> bytes:
    return jsontext.dumps({"model": "m", "input": "Hi"} | fields)


def long_conversation(text: str) -> bytes:
    """Six of these texts, each as long as one may be."""
    return asking(input=[{"role": "user", "content": text} for _ in range(6)])


def tool(parameters: Any, name: str = "f") -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": parameters}


def content(part: Any) -> bytes:
    return asking(input=[{"role": "user", "content": [part]}])


def said(*deltas: Any) -> bytes:
    """A stream of these deltas, in one piece."""
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    data = b"".join(b"data: " + jsontext.dumps(event) + b"\n\n" for event in events)
    return HEAD + http_chunk(data) + finish("stop") + DONE + END


def called(arguments: str, name: str = "f") -> bytes:
    return said({"tool_calls": [{"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}]})


def doubling(text: str, levels: int = 11) -> dict[str, Any]:
    """Each definition points at the next one twice, the last holds the text."""
    pair = ({"$ref": f"#/$defs/d{level + 1}"} for level in range(levels))
    defs: dict[str, Any] = {
        f"d{level}": {"type": "object", "properties": {"a": points, "b": points}}
        for level, points in enumerate(pair)
    }
    defs[f"d{levels}"] = {"type": "string", "description": text}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}


CHECKED = {"request_options": {"validate_tool_arguments": True}}
HOSTILE = "^((((a*){2}){2}){2}){2}$"


def packed_zeros() -> bytes:
    """A small member, and zeros behind it."""
    return gzip.compress(b"{}") + bytes(60 * MIB)


def empty_blocks() -> bytes:
    pack = zlib.compressobj(wbits=31)
    return pack.compress(b"") + pack.flush(zlib.Z_SYNC_FLUSH) + b"\x00\x00\x00\xff\xff" * (8 * MIB)


def seal_like() -> str:
    return urlsafe_b64encode(bytes(32) + zlib.compress(b"a" * (15 * MIB))).decode()


def overlapping(count: int) -> dict[str, Any]:
    names = [f"p{number}" for number in range(count)]
    return {
        "type": "object",
        "oneOf": [
            {"properties": {name: {"type": "string"} for name in names}, "required": [one]} for one in names
        ],
    }


ATTACKS: dict[str, Attack] = {
    "01 a data URL without a comma": Attack(
        lambda: [content({"type": "input_file", "filename": "a", "file_data": "data:" + "a" * (4 * MIB)})]
    ),
    "02 a pattern whose price is told wrong": Attack(
        lambda: [
            asking(
                tools=[tool({"type": "object", "properties": {"s": {"type": "string", "pattern": HOSTILE}}})]
            )[:-1]
            + b',"request_options":{"validate_tool_arguments":true}}'
        ],
        reply=lambda: called('{"s":"%s!"}' % ("a" * 60)),
    ),
    "03 definitions that double": Attack(
        lambda: [asking(tools=[tool(doubling("x" * 30_000), f"f{number}") for number in range(30)])],
        profile="mistral",
    ),
    "04 values on a socket": Attack(
        lambda: [asking()[:-1] + b',"type":"response.create","x":[' + b"[]," * (10 * MIB) + b"0]}"],
        socket=True,
    ),
    "05 a path of half tokens": Attack(lambda: [b"{}"] * 10, path="/-" + "eyJaaaaa-" * 890),
    "06 tokens that unpack to much": Attack(
        lambda: [
            asking(input=[{"type": "reasoning", "summary": [], "encrypted_content": seal_like()}] * 1_000)
        ]
    ),
    "08 zeros behind a packed body": Attack(lambda: [packed_zeros()], headers={"Content-Encoding": "gzip"}),
    "08 empty blocks": Attack(lambda: [empty_blocks()], headers={"Content-Encoding": "gzip"}),
    "10 arguments in a long list of values": Attack(
        lambda: [
            asking(
                tools=[
                    tool({"type": "object", "properties": {"s": {"items": {"enum": list(range(20_000))}}}})
                ],
                **CHECKED,
            )
        ],
        reply=lambda: called(f'{{"s":[{",".join(["19999"] * 9_000)}]}}'),
    ),
    "10 arguments under many rules": Attack(
        lambda: [
            asking(
                tools=[tool({"type": "object", "properties": {"s": {"allOf": [{"items": {}}] * 450}}})],
                **CHECKED,
            )
        ],
        reply=lambda: called(f'{{"s":[{",".join(["1"] * 20_000)}]}}'),
    ),
    "11 a fence of tildes": Attack(
        lambda: [asking(tools=[{"type": "custom", "name": "f"}])],
        reply=lambda: called(jsontext.compact({"input": "~" * 30_000 + "\n" + "a" * 30_000})),
    ),
    "11 zeros": Attack(
        lambda: [asking(tools=[tool({})])],
        reply=lambda: said(
            {"content": '<tool_call>{"name":"f","arguments":{"a":%sx}}</tool_call>' % ("0" * 60_000)}
        ),
    ),
    "11 blanks": Attack(
        lambda: [asking(tools=[tool({"properties": {"o": {"type": "object"}}})])],
        reply=lambda: said({"content": "<function=f>\n<parameter=o>{" + " " * 60_000}),
    ),
    "12 a thought in pieces": Attack(
        lambda: [
            jsontext.dumps(
                {
                    "model": "m",
                    "messages": [
                        {
                            "role": "assistant",
                            "content": "x",
                            "reasoning_details": [{"type": "reasoning.text", "text": "x" * 20, "index": 0}]
                            * 40_000,
                        },
                        {"role": "user", "content": "Hi"},
                    ],
                }
            )
        ],
        path=CHAT,
        profile="openrouter",
    ),
    "13 many schemas": Attack(
        lambda: [
            asking(
                tools=[
                    tool(
                        {"anyOf": [{"type": "object", "properties": {f"a{n}": {}}} for n in range(60)]},
                        f"f{i}",
                    )
                    for i in range(100)
                ]
            )
        ],
        profile="anthropic",
    ),
    "13 alternatives that overlap": Attack(
        lambda: [asking(tools=[tool(overlapping(64), f"f{number}") for number in range(8)])],
        profile="google",
    ),
    "14 packed bodies at once": Attack(
        lambda: [
            gzip.compress(asking()[:-1] + b',"x":[' + b"{}," * (2 * MIB) + b"0]}", 9) for _ in range(15)
        ],
        headers={"Content-Encoding": "gzip"},
    ),
    "14 large bodies at once": Attack(lambda: [long_conversation("x" * (9 * MIB)) for _ in range(3)]),
    "22 half characters": Attack(lambda: [b'{"model":"m","input":"' + rb"\ud83d" * (10 * MIB) + b'"}']),
    "22 long numbers": Attack(
        lambda: [b'{"model":"m","input":"Hi","x":[' + b",".join([b"1" * 3_999] * 15_000) + b"]}"]
    ),
    "22 nested lists": Attack(
        lambda: [
            b'{"model":"m","input":"Hi","x":[' + b",".join([b"[[[[[[[[[[[]]]]]]]]]]]"] * 600_000) + b"]}"
        ]
    ),
    "22 as many values as there may be": Attack(
        lambda: [b'{"model":"m","input":"Hi","x":[' + b",".join([b'{"a":1}'] * 190_000) + b"]}"]
    ),
    "22 long texts": Attack(lambda: [long_conversation("a\n" * (3 * MIB))]),
    "22 long texts that end in a wide character": Attack(lambda: [long_conversation("x" * (9 * MIB) + "😀")]),
    "23 deltas without a pause": Attack(
        lambda: [asking(stream=True)],
        reply=lambda: said(*[{"content": "word "}] * 200_000),
    ),
    "23 nothing but words": Attack(
        lambda: [asking(stream=True)],
        reply=lambda: said(*[{"content": "word " * 3_000}] * 17_000),
    ),
    "23 nothing but tokens in one event": Attack(
        lambda: [asking(stream=True)],
        reply=lambda: said({"content": "<|" * (3 * MIB)}),
    ),
    "23 interim answers": Attack(
        lambda: [asking()], reply=lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000_000
    ),
    "24 calls of the same id": Attack(
        lambda: [asking(tools=[tool({})])],
        reply=lambda: (
            HEAD
            + http_chunk(
                b'data: {"candidates":[{"content":{"parts":['
                + b",".join([b'{"functionCall":{"name":"f","id":"a","args":{}}}'] * 400_000)
                + b"]}}]}\n\n"
            )
            + END
        ),
        profile="google",
    ),
    "25 a list of many models": Attack(
        lambda: [b""] * 3,
        path="/v1/models",
        method="GET",
        reply=lambda: answer(200, {"data": [{"id": f"model-{number}"} for number in range(250_000)]}),
    ),
    "27 one event of 200 MiB": Attack(
        lambda: [asking(stream=True)],
        reply=lambda: HEAD + http_chunk(b'data: {"x":"' + b"a" * (200 * MIB) + b'"}\n\n') + END,
    ),
}
