"""The Responses surface from outside."""

from collections.abc import Mapping, Sequence

from tests.contract.cases import Ask, Outcome, Tool
from tests.contract.surfaces import Answer, Json, parsed
from tests.support.replies import read_stream

ENDINGS = {"max_output_tokens": "length", "content_filter": "filter"}


class Responses:
    path = "/v1/responses"

    def body(self, ask: Ask, model: str, *, stream: bool) -> Json:
        content: list[Json] = [{"type": "input_text", "text": ask.text}]
        if ask.attached:
            content.append(_attached(ask.attached))
        said = {"type": "message", "role": "user", "content": content}
        body: Json = {"model": model, "input": [said], "stream": stream, "store": False}
        if ask.system:
            body["instructions"] = ask.system
        if ask.tools:
            body["tools"] = [_tool(tool) for tool in ask.tools]
        if ask.choice:
            named = ask.choice not in ("required", "none")
            body["tool_choice"] = {"type": "function", "name": ask.choice} if named else ask.choice
        if ask.effort:
            body["reasoning"] = {"effort": ask.effort, "summary": "auto"}
            body["include"] = ["reasoning.encrypted_content"]
        if ask.schema:
            body["text"] = {
                "format": {"type": "json_schema", "name": "answer", "schema": ask.schema, "strict": True}
            }
        if ask.limit:
            body["max_output_tokens"] = ask.limit
        if ask.validate:
            body["request_options"] = {"validate_tool_arguments": True}
        return body

    def streamed(self, data: bytes, headers: Mapping[str, str]) -> Answer:
        events = read_stream(data)
        final = next(event["response"] for event in reversed(events) if "response" in event)
        return self._answer(final)

    def whole(self, body: Json, headers: Mapping[str, str]) -> Answer:
        return self._answer(body)

    def next(self, body: Json, answer: Answer, results: Sequence[tuple[str, str, str]]) -> Json:
        outputs = [
            {"type": "function_call_output", "call_id": call_id, "output": text}
            for call_id, _, text in results
        ]
        return body | {"input": [*body["input"], *answer.said, *outputs]}

    def _answer(self, response: Json) -> Answer:
        assert response["object"] == "response"
        items = response["output"]
        content = [part for item in items if item["type"] == "message" for part in item["content"]]
        summaries = [part for item in items if item["type"] == "reasoning" for part in item["summary"]]
        calls = [item for item in items if item["type"] == "function_call"]
        incomplete, failed = response["incomplete_details"], response["error"]
        ending = "error" if failed else ENDINGS[incomplete["reason"]] if incomplete else "completed"
        assert response["status"] == {"completed": "completed", "error": "failed"}.get(ending, "incomplete")
        outcome = Outcome(
            text="".join(part["text"] for part in content if part["type"] == "output_text"),
            reasoning="".join(part["text"] for part in summaries),
            refusal="".join(part["refusal"] for part in content if part["type"] == "refusal"),
            calls=tuple((call["name"], parsed(call["arguments"], cut=bool(failed))) for call in calls),
            ending=ending,
            error=failed and failed["code"],
            tokens=None if failed else _tokens(response["usage"]),
        )
        warnings = response.get("_proxy", {}).get("warnings", ())
        named = [(call["call_id"], call["name"]) for call in calls]
        return Answer(outcome, named, items, warnings=warnings)


def _attached(url: str) -> Json:
    kind, _, data = url.partition(",")
    if kind.startswith("data:image/"):
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if kind.startswith("data:audio/"):
        return {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    return {"type": "input_file", "filename": "a.pdf", "file_data": url}


def _tokens(usage: Json) -> tuple[int, int]:
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    return usage["input_tokens"], usage["output_tokens"]


def _tool(tool: Tool) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict,
    }
