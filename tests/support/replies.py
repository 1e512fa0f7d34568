"""What the tests share: one request through the whole core in memory, a strict reader of the result, and cuts.

The strict reader is a client that forgives nothing: numbering, order, pairs, joined deltas, the final object. Every
stream that any test makes goes through it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count, pairwise
from typing import Any

from proxy.core import jsontext
from proxy.core.argument_problem import ArgumentProblem
from proxy.core.backends import profiles
from proxy.core.backends.target import Target
from proxy.core.errors import Fault
from proxy.core.events import Reply
from proxy.core.flow.reply import reply_flow
from proxy.core.flow.request import Asker, prepared_for
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.model import Request, ToolSpec
from proxy.core.profile import BackendProfile
from proxy.core.sink import Sink
from proxy.core.stream.pipeline import Pipeline
from proxy.core.surfaces.clients import DEFAULT, EventStyle, Extended
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.decode import decode
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from proxy.core.surfaces.responses.surface import ResponsesOptions, ResponsesSurface
from proxy.core.surfaces.surface import Surface
from proxy.core.tenants import ANYBODY
from proxy.core.tools import arguments

NOW = 1_700_000_000
TERMINAL = ("response.completed", "response.incomplete", "response.failed")

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": None,
}
TIME = {"type": "function", "name": "get_time", "description": None, "parameters": None, "strict": None}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits files.", "format": {"type": "text"}}
SIGNER = TokenSigner("of the tests")
REQUEST: dict[str, Any] = {"model": "m", "input": "Hi", "stream": True}
WITH_TOOLS = REQUEST | {"tools": [WEATHER, TIME, PATCH]}

KNOWN = replace(profiles.DEFAULT, replay_by_evidence=False)
"""A backend of which it is known that it wants no reasoning back."""


def counting_mint() -> Mint:
    numbers = count(1)
    return Mint(lambda size: f"{next(numbers):0{2 * size}x}")


FIRST_RESPONSE = f"resp_{1:032x}{2:016x}"
FIRST_ITEM = f"800000{3:010x}{1:016x}{2:016x}"
"""The first ids of a counting mint, the item's without its prefix."""

RESPONSES = ResponsesSurface(counting_mint(), lambda: NOW, SIGNER, ResponsesOptions(EventStyle.AUTO, False))


def pipeline_for(
    request: Request,
    profile: BackendProfile,
    sink: Sink,
    ledger: Ledger,
    *,
    mint: Mint | None = None,
    surface: Surface = RESPONSES,
    stamp: str = "",
) -> Pipeline:
    """The reply to one request, composed as the engine has it composed."""
    target = Target("tests", "http://backend.test/v1", profile)
    asked = prepared_for(request, target, request.model, "http://backend.test/v1/chat/completions", ledger)
    asker = Asker(surface, DEFAULT, ANYBODY)
    mint = mint or counting_mint()
    return reply_flow(asked, asker, mint=mint, stamp=stamp, ledger=ledger, sink=sink).pipeline


@dataclass
class Run:
    """What came of one reply."""

    pipeline: Pipeline
    response: ResponseObject
    ledger: Ledger
    frames: list[bytes] = field(default_factory=list)

    @property
    def reply(self) -> Reply:
        return self.pipeline.reply

    def events(self) -> list[dict[str, Any]]:
        return read_stream(b"".join(self.frames))


def start(
    body: dict[str, Any] | None = None,
    *,
    extended: bool = False,
    profile: profiles.BackendProfile = KNOWN,
    ledger: Ledger | None = None,
) -> Run:
    """One request decoded and prepared, its pipeline waiting for the backend's first byte."""
    ledger = ledger or Ledger()
    body = body or WITH_TOOLS
    request = decode(body, ledger, signer=SIGNER)
    mint = counting_mint()
    signs = request.reasoning.wants_token
    response = ResponseObject(body, mint, lambda: NOW, SIGNER if signs or request.compact else None)
    frames: list[bytes] = []
    encoder = ResponsesEncoder(response, frames.append, extended=Extended(extended, extended))
    sink = Sink(encoder.feed, encoder.delta)
    pipeline = pipeline_for(request, profile, sink, ledger, mint=mint)
    return Run(pipeline, response, ledger, frames)


def run(
    pieces: Iterable[bytes] | bytes,
    body: dict[str, Any] | None = None,
    fault: Fault | None = None,
    **how: Any,
) -> Run:
    """Feed a backend's bytes, cut as given; end with EOF, or with the fault that a broken connection makes."""
    started = start(body, **how)
    for piece in [pieces] if isinstance(pieces, bytes) else pieces:
        started.pipeline.feed(piece)
    if fault is None:
        started.pipeline.close()
    else:
        started.pipeline.fail(fault)
    return started


# ── a backend's side ──


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **extra: Any) -> bytes:
    """One Chat Completions chunk as an event."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return (
        b"data: "
        + jsontext.dumps({"id": "c1", "object": "chat.completion.chunk", "choices": choices, **extra})
        + b"\n\n"
    )


def call_chunk(
    index: int | None = 0, id: str | None = None, name: str | None = None, args: str | None = None
) -> bytes:
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    call = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return chunk({"tool_calls": [{**call, "function": function}]})


DONE = b"data: [DONE]\n\n"
STOP = chunk({}, "stop")


# ── cuts ──


def bytewise(data: bytes) -> Iterator[bytes]:
    return (data[i : i + 1] for i in range(len(data)))


def cut(data: bytes, at: Iterable[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(i % (len(data) + 1) for i in at)})
    return [data[a:b] for a, b in pairwise(edges)]


# ── the strict reader ──


def read_stream(stream: bytes) -> list[dict[str, Any]]:
    """The events of one whole stream, after checking everything that every stream promises."""
    blocks = stream.decode().split("\n\n")
    assert blocks[-1] == "", "the stream ends within an event"
    assert blocks[-2] == "data: [DONE]"
    events = []
    for number, block in enumerate(blocks[:-2]):
        name, data = block.split("\n")
        event = jsontext.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        events.append(event)
    check(events)
    return events


def check(events: list[dict[str, Any]]) -> None:
    types = [event["type"] for event in events]
    begins = ["response.created", "response.in_progress"]
    if events[0]["response"].get("background"):
        begins.insert(1, "response.queued")
    assert types[: len(begins)] == begins
    tail = types[-2:] if types[-1] == "response.done" else types[-1:]
    assert tail[0] in TERMINAL
    assert sum(kind in TERMINAL for kind in types) == 1
    final = events[types.index(tail[0])]["response"]
    assert final["status"] == tail[0].removeprefix("response.")
    assert ("error" in types) == (final["status"] == "failed")
    ids = {event["response"]["id"] for event in events if "response" in event}
    assert len(ids) == 1
    items, cut = _check_items(events)
    if cut is not None:
        items.append(_check_cut(cut, final["output"][-1]))
    assert final["output"] == items
    statuses = [item.get("status", "completed") for item in items]
    assert "incomplete" not in statuses[:-1], "an incomplete item is the last one"
    if "incomplete" in statuses:
        assert final["status"] != "completed"
    assert len({item["id"] for item in items}) == len(items)


Cut = tuple[dict[str, Any], str]
"""An item as it was opened, and what was said of it."""


def _check_items(events: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Cut | None]:
    """Items strictly one after another, dense indexes, deltas that join to the final text. Which were done, and the
    last one if it never was."""
    done: list[dict[str, Any]] = []
    opened: dict[str, Any] | None = None
    said = ""
    closing: list[str] = []
    for event in events:
        kind = event["type"]
        if kind == "response.output_item.added":
            assert opened is None, "an item opens while another is open"
            assert event["output_index"] == len(done)
            opened, said, closing = event["item"], "", []
        elif "output_index" in event:
            assert opened is not None, f"{kind} outside of an item"
            assert event["output_index"] == len(done)
            assert event.get("item_id", opened["id"]) == opened["id"]
        if kind.endswith(".delta") and not kind.startswith("response.output_tool_call"):
            assert event["delta"]
            said += event["delta"]
        if kind == "response.output_item.done":
            assert opened is not None
            final = event["item"]
            assert (final["id"], final["type"]) == (opened["id"], opened["type"])
            assert text_of(final) == said
            done.append(final)
            opened = None
        elif kind.endswith((".done", ".end")) and "output_index" in event:
            closing.append(kind)
    assert opened is None or not closing, "an item was closed by halves"
    return done, (opened, said) if opened is not None else None


def _check_cut(cut: Cut, final: dict[str, Any]) -> dict[str, Any]:
    """V01: only a call may never be done, and only where it was cut."""
    opened, said = cut
    assert "call_id" in opened, "an item was never done"
    assert (final["id"], final["type"], final["status"]) == (opened["id"], opened["type"], "incomplete")
    assert text_of(final) == said
    return final


def text_of(item: dict[str, Any]) -> str:
    if item["type"] == "message":
        part = item["content"][0]
        return part.get("text", part.get("refusal"))
    if item["type"] == "reasoning":
        return item["summary"][0]["text"] if item["summary"] else ""
    said = {"custom_tool_call": "input", "function_call": "arguments"}.get(item["type"])
    return item[said] if said else ""


def outline(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events as people compare them: no numbers, adjacent deltas joined, the response object cut to what changes,
    and what a token holds in the open, since not every zlib packs it the same way."""
    lines: list[dict[str, Any]] = []
    for event in events:
        line = {key: value for key, value in event.items() if key != "sequence_number"}
        if "response" in line:
            response = line["response"]
            kept = ("status", "error", "incomplete_details", "usage")
            line["response"] = {key: response[key] for key in kept if response[key] is not None}
        if token := line.get("item", {}).get("encrypted_content"):
            opened = SIGNER.reader().summary(token) or asdict(SIGNER.reader().reasoning(token))
            line["item"] = line["item"] | {"encrypted_content": opened}
        previous = lines[-1] if lines else {}
        if line["type"].endswith(".delta") and previous.get("type") == line["type"]:
            previous["delta"] += line["delta"]
            if "logprobs" in line:
                previous["logprobs"] = previous["logprobs"] + line["logprobs"]
        else:
            lines.append(line)
    return lines


def check_of(spec: ToolSpec) -> Callable[[str], ArgumentProblem | None] | None:
    """The check of a tool's calls, made at once, however long it takes; None where they are free text."""
    return partial(arguments.verdict, arguments.written(spec)) if arguments.is_checked(spec) else None
