"""The Chat Completions surface from outside."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.core import jsontext
from tests.contract.cases import Ask, Outcome, Tool
from tests.contract.surfaces import Answer, Json, error, parsed

ENDINGS = {
    "stop": "completed",
    "tool_calls": "completed",
    "length": "length",
    "content_filter": "filter",
}
CALL_ID = re.compile(r"call_[0-9a-f]{32}")


class Chat:
    def __init__(self, *, whole_calls: bool = False) -> None:
        """A plain client keeps of the assistant's turn what the OpenAI API has, and nothing else. `whole_calls`: one
        that gives calls back with everything that stood in them."""
        self._whole_calls = whole_calls

    path = "/v1/chat/completions"
    fragments = True
    """Do the arguments of calls come bit by bit?"""

    def body(self, ask: Ask, model: str, *, stream: bool) -> Json:
        content: Any = ask.text
        if ask.attached:
            content = [{"type": "text", "text": ask.text}, _attached(ask.attached)]
        messages: list[Json] = [{"role": "user", "content": content}]
        if ask.system:
            messages.insert(0, {"role": "system", "content": ask.system})
        body: Json = {"model": model, "messages": messages, "stream": stream}
        if stream:
            body["stream_options"] = {"include_usage": True}
        if ask.tools:
            body["tools"] = [_tool(tool) for tool in ask.tools]
        if ask.choice:
            named = ask.choice not in ("required", "none")
            body["tool_choice"] = (
                {"type": "function", "function": {"name": ask.choice}} if named else ask.choice
            )
        if ask.effort:
            body["reasoning_effort"] = ask.effort
        if ask.schema:
            wanted = {"name": "answer", "schema": ask.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if ask.limit:
            body["max_tokens"] = ask.limit
        if ask.validate:
            body["request_options"] = {"validate_tool_arguments": True}
        return body

    def next(self, body: Json, answer: Answer, results: Sequence[tuple[str, str, str]]) -> Json:
        said = {"role": "assistant", "content": answer.said["content"]}
        said["tool_calls"] = [
            call if self._whole_calls else {name: call[name] for name in ("id", "type", "function")}
            for call in answer.said["tool_calls"]
        ]
        told = [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, _, text in results]
        return body | {"messages": [*body["messages"], said, *told]}

    # ── answers ──

    def streamed(self, data: bytes, headers: Mapping[str, str]) -> Answer:
        *events, end, nothing = [event.removeprefix(b"data: ") for event in data.split(b"\n\n")]
        assert nothing == b"", "the stream ends within an event"
        if end != b"[DONE]":
            code = error(502, jsontext.strict(end)).outcome.error
            message = self._joined([jsontext.strict(event) for event in events])
            return self._heard(message, finish=None, code=code)
        *chunks, last, usage = [jsontext.strict(event) for event in events]
        assert usage["choices"] == []
        (choice,) = last["choices"]
        assert choice["delta"] == {}
        assert choice["finish_reason"], "no finish reason at the end"
        message, reason = self._joined(chunks), choice["finish_reason"]
        return self._heard(message, reason, beside=last.get("_proxy"), tokens=_tokens(usage["usage"]))

    def whole(self, body: Json, headers: Mapping[str, str]) -> Answer:
        assert body["object"] == "chat.completion"
        assert re.fullmatch(r"chatcmpl-\w+", body["id"])
        (choice,) = body["choices"]
        assert choice["index"] == 0
        if choice["message"].get("tool_calls"):
            assert body["_proxy"]["warnings"], "C08: nobody tells the client to run the tools"
        message, reason = choice["message"], choice["finish_reason"]
        return self._heard(message, reason, beside=body.get("_proxy"), tokens=_tokens(body["usage"]))

    def arguments(self, said: Any, *, cut: bool) -> Any:
        """C06: always a string."""
        return parsed(said, cut=cut)

    def carried(self, beside: Json) -> Mapping[str, str]:
        """What of the proxy's own member comes back in a header."""
        return {}

    def _joined(self, chunks: list[Json]) -> Json:
        """One message of all deltas, as SDKs make it."""
        ((_, kind, _),) = {(chunk["id"], chunk["object"], chunk["model"]) for chunk in chunks}
        assert kind == "chat.completion.chunk"
        assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
        message: Json = {"role": "assistant", "content": None}
        calls: list[Json] = []
        for chunk in chunks:
            (choice,) = chunk["choices"]
            assert choice["index"] == 0
            assert choice["finish_reason"] is None, "a finish reason before the end"
            assert chunk["usage"] is None
            for name, value in choice["delta"].items():
                if name == "tool_calls":
                    for fragment in value:
                        self._add(fragment, calls)
                elif name != "role" and value:
                    message[name] = (message.get(name) or "") + value
        return message | ({"tool_calls": calls} if calls else {})

    def _add(self, fragment: Json, calls: list[Json]) -> None:
        """A call opens with its id and name, once; all that follows is more of the arguments of the last one."""
        if "id" in fragment:
            assert fragment["index"] == len(calls), "an index that is not the next"
            calls.append({**fragment, "function": dict(fragment["function"])})
        else:
            assert self.fragments
            assert fragment["index"] == len(calls) - 1, "a fragment of a call that is not the last"
            assert fragment["function"].keys() == {"arguments"}
            calls[-1]["function"]["arguments"] += fragment["function"]["arguments"]

    def _heard(
        self,
        message: Json,
        finish: str | None,
        code: str | None = None,
        beside: Json | None = None,
        tokens: tuple[int, int] | None = None,
    ) -> Answer:
        assert message["role"] == "assistant"
        calls = message.get("tool_calls", [])
        ids = [call["id"] for call in calls]
        assert len(set(ids)) == len(ids)
        for call in calls:
            assert CALL_ID.fullmatch(call["id"])
            assert call["type"] == "function"
        assert code or (finish == "tool_calls") == bool(calls), "C06: calls, or another reason"
        outcome = Outcome(
            text=message.get("content") or "",
            reasoning=message.get("reasoning_content") or "",
            refusal=message.get("refusal") or "",
            calls=tuple(
                (call["function"]["name"], self.arguments(call["function"]["arguments"], cut=bool(code)))
                for call in calls
            ),
            ending=ENDINGS[finish] if finish else "error",
            error=code,
            tokens=tokens,
        )
        names = [call["function"]["name"] for call in calls]
        beside = beside or {}
        return Answer(
            outcome,
            list(zip(ids, names, strict=True)),
            message,
            self.carried(beside),
            beside.get("warnings", ()),
        )


def _attached(url: str) -> Json:
    kind, _, data = url.partition(",")
    if kind.startswith("data:image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if kind.startswith("data:audio/"):
        return {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    return {"type": "file", "file": {"filename": "a.pdf", "file_data": url}}


def _tokens(usage: Json) -> tuple[int, int]:
    """C06: the total is the sum."""
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    return usage["prompt_tokens"], usage["completion_tokens"]


def _tool(tool: Tool) -> Json:
    function: Json = {"name": tool.name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}
