"""A strict client of Chat streams, and one reply through the whole core to it.

The reader forgives nothing: one role, constant ids, one reason at the end, dense indexes, calls begun before they are
continued. `fold` joins a stream to the whole answer that it must equal.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from proxy.core.backends import profiles
from proxy.core.errors import Fault
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.sink import Sink
from proxy.core.stream.pipeline import Pipeline
from proxy.core.surfaces.chat.calls import CallForm, ToolCalls
from proxy.core.surfaces.chat.completion import Completion
from proxy.core.surfaces.chat.encode import ChatEncoder
from proxy.core.surfaces.chat.surface import ChatSurface
from proxy.core.surfaces.responses.decode import decode
from tests.support.assembling import Told, into
from tests.support.replies import NOW, WITH_TOOLS, counting_mint, pipeline_for

Json = dict[str, Any]
DONE = "data: [DONE]"
CHAT = ChatSurface(counting_mint(), lambda: NOW)


@dataclass
class ChatRun:
    """What came of one reply."""

    pipeline: Pipeline
    completion: Completion
    ledger: Ledger
    frames: list[bytes] = field(default_factory=list)

    @property
    def stream(self) -> bytes:
        return b"".join(self.frames)

    def chunks(self) -> list[Json]:
        return read_chat_stream(self.stream)

    def folded(self) -> Json:
        return fold(self.chunks())

    def whole(self) -> Json:
        """Without the advice that only whole answers give."""
        whole = self.completion.whole(self.pipeline.reply)
        beside, advice = whole.pop("_proxy", {}), self.completion.calls.advice
        if warnings := [said for said in beside.pop("warnings", []) if said != advice]:
            beside["warnings"] = warnings
        return whole | ({"_proxy": beside} if beside else {})


def request_of(body: Json | None = None, ledger: Ledger | None = None) -> Request:
    return decode(body or WITH_TOOLS, ledger or Ledger())


def completion_of(
    request: Request, form: CallForm, ledger: Ledger | None = None, include_usage: bool = False
) -> Completion:
    mint = counting_mint()
    return Completion(request, mint, lambda: NOW, form, ledger or Ledger(), include_usage=include_usage)


def run_chat(
    pieces: Iterable[bytes] | bytes,
    body: Json | None = None,
    form: CallForm | None = None,
    fault: Fault | None = None,
    *,
    include_usage: bool = False,
    profile: profiles.BackendProfile = profiles.DEFAULT,
) -> ChatRun:
    """A backend's bytes, cut as given; then EOF, or the fault that a broken connection makes."""
    ledger = Ledger()
    request = request_of(body, ledger)
    completion = completion_of(request, form or ToolCalls(), ledger, include_usage)
    frames: list[bytes] = []
    encoder = ChatEncoder(completion, frames.append)
    pipeline = pipeline_for(request, profile, Sink(encoder.feed, encoder.delta), ledger, surface=CHAT)
    for piece in [pieces] if isinstance(pieces, bytes) else pieces:
        pipeline.feed(piece)
    if fault is None:
        pipeline.close()
    else:
        pipeline.fail(fault)
    return ChatRun(pipeline, completion, ledger, frames)


def encoded(
    events: Iterable[Told], form: CallForm | None = None, body: Json | None = None, **how: Any
) -> list[Json]:
    """The chunks that become of events, after the reader had its look at them."""
    frames: list[bytes] = []
    encoder = ChatEncoder(completion_of(request_of(body), form or ToolCalls(), **how), frames.append)
    for event in events:
        into(encoder)(event)
    return read_chat_stream(b"".join(frames))


# ── the strict reader ──

CHUNK = {"id", "object", "created", "model", "choices"}
CHOICE = {"index", "delta", "logprobs", "finish_reason"}
PROSE = {"content", "reasoning_content", "refusal"}


def read_chat_stream(stream: bytes) -> list[Json]:
    """The chunks of one whole stream, after checking what every stream promises; the last may be an error (E3)."""
    blocks = stream.decode().split("\n\n")
    assert blocks.pop() == "", "the stream ends within an event"
    ended = blocks[-1] == DONE
    chunks = [_payload(block) for block in (blocks[:-1] if ended else blocks)]
    assert ("error" in chunks[-1]) != ended, "exactly one of an error and [DONE] ends a stream"
    told = chunks if ended else chunks[:-1]
    if not ended:
        assert chunks[-1].keys() == {"error"}
        assert chunks[-1]["error"].keys() >= {"message", "type", "param", "code"}
    _check_frames(told)
    _check_choices([chunk["choices"][0] for chunk in told if chunk["choices"]], ended)
    return chunks


def _payload(block: str) -> Json:
    assert block.startswith("data: {")
    assert "\n" not in block
    payload: Json = jsontext.strict(block.removeprefix("data: "))
    return payload


def _check_frames(chunks: list[Json]) -> None:
    first = chunks[0]
    counted = "usage" in first
    for chunk in chunks:
        assert chunk.keys() - {"_proxy"} == CHUNK | ({"usage"} if counted else set())
        assert chunk["object"] == "chat.completion.chunk"
        assert all(chunk[name] == first[name] for name in ("id", "created", "model"))
    for chunk in chunks[:-1]:
        assert len(chunk["choices"]) == 1, "only the chunk of the usage has no choice, and it is the last"
        assert chunk.get("usage") is None
    assert all("_proxy" not in chunk or chunk["choices"][0]["finish_reason"] for chunk in chunks)
    if not chunks[-1]["choices"]:
        assert chunks[-1]["usage"] is not None


def _check_choices(choices: list[Json], ended: bool) -> None:
    begun = 0
    for number, choice in enumerate(choices):
        delta = choice["delta"]
        assert choice.keys() == CHOICE
        assert choice["index"] == 0
        assert ("role" in delta) == (number == 0), "the role stands in the first chunk, and in no other"
        last = ended and number == len(choices) - 1
        assert (choice["finish_reason"] is not None) == last, "one reason, in the last chunk"
        if number and not last:
            assert len(delta) == 1, "a delta says one thing"
            assert all(delta[name] for name in PROSE & delta.keys()), "an empty delta"
        for call in delta.get("tool_calls", []):
            begun += _check_call(call, begun)
    assert not choices or not choices[-1]["finish_reason"] or not choices[-1]["delta"]


def _check_call(call: Json, begun: int) -> bool:
    """Is it the beginning of one? Calls come strictly one after another."""
    if "id" not in call:
        assert call["index"] == begun - 1, "a fragment of a call that is not the last begun"
        assert call.keys() - {"index"} in ({"function"}, {"custom"})
        [text] = next(call[kind] for kind in ("function", "custom") if kind in call).values()
        assert text, "an empty fragment"
        return False
    assert call["index"] == begun, "indexes are dense"
    assert call[call["type"]]["name"]
    assert call["id"].startswith("call_")
    return True


# ── the fold ──


def fold(chunks: list[Json]) -> Json:
    """The whole answer that the chunks are parts of."""
    frame = {name: chunks[0][name] for name in ("id", "created", "model")}
    message: Json = {"refusal": None}
    logprobs: list[Any] = []
    reason = usage = None
    beside: Json = {}
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        beside |= {"_proxy": chunk["_proxy"]} if "_proxy" in chunk else {}
        for choice in chunk["choices"]:
            _add(message, choice["delta"])
            logprobs += (choice["logprobs"] or {}).get("content", [])
            reason = choice["finish_reason"] or reason
    for call in message.get("tool_calls", []):
        if not isinstance(
            call.get("function", {}).get("arguments"), dict
        ):  # whole native answers have it too
            del call["index"]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": {"content": logprobs, "refusal": None} if logprobs else None,
        "finish_reason": reason,
    }
    return {**frame, "object": "chat.completion", "choices": [choice], "usage": usage, **beside}


def _add(message: Json, delta: Json) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            _add_calls(message.setdefault("tool_calls", []), value)
        elif isinstance(value, dict):
            _add(message.setdefault(name, {}), value)
        elif isinstance(message.get(name), str):
            message[name] += value
        else:
            message[name] = value


def _add_calls(calls: list[Json], deltas: list[Json]) -> None:
    for delta in deltas:
        if delta["index"] == len(calls):
            calls.append(dict(delta))
        else:
            call = calls[delta["index"]]
            _add(call, {kind: delta[kind] for kind in ("function", "custom") if kind in delta})
