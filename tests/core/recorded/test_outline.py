"""Events as people compare them."""

from typing import Any

from proxy.core import jsontext
from proxy.core.recorded.outline import events_of, outline


def frame(event: dict[str, Any]) -> bytes:
    return b"data: " + jsontext.dumps(event) + b"\n\n"


def delta(text: Any, number: int, **more: Any) -> bytes:
    return frame({"type": "response.output_text.delta", "delta": text, "sequence_number": number, **more})


def chat(choice: Any, **more: Any) -> bytes:
    return frame({"id": "c", "choices": [choice], **more})


def test_frames_of_streams_and_of_sockets_are_read() -> None:
    assert events_of([b'event: x\ndata: {"a":1}\n\ndata: [DONE]\n\n', b'{"b":2}']) == [
        {"a": 1},
        "[DONE]",
        {"b": 2},
    ]


def test_pieces_of_one_text_are_joined() -> None:
    assert outline([delta("Hel", 1), delta("lo", 2)]) == [
        {"type": "response.output_text.delta", "delta": "Hello"}
    ]
    probed = outline([delta("a", 1, logprobs=[1]), delta("b", 2, logprobs=[2])])
    assert probed == [{"type": "response.output_text.delta", "delta": "ab", "logprobs": [1, 2]}]


def test_pieces_of_different_texts_are_not() -> None:
    assert len(outline([delta("a", 1, item_id="x"), delta("b", 2, item_id="y")])) == 2
    assert len(outline([delta({}, 1), delta({"a": 1}, 2)])) == 2
    assert len(outline([delta("a", 1), delta("b", 2, item_id="y"), b"data: text\n\n"])) == 3


def test_chunks_of_the_chat_api_too() -> None:
    content = [
        chat({"index": 0, "delta": {"content": text}, "finish_reason": None}) for text in ("Hel", "lo")
    ]
    (joined,) = outline(content)
    assert joined["choices"][0]["delta"] == {"content": "Hello"}
    calls = [
        chat({"index": 0, "delta": {"tool_calls": [{"index": at, "function": {"arguments": text}}]}})
        for at, text in ((0, "{"), (0, "}"), (1, "{}"))
    ]
    first, second = outline(calls)
    assert first["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert second["choices"][0]["delta"]["tool_calls"][0]["index"] == 1


def test_what_are_no_pieces_stays_apart() -> None:
    those = [
        chat({"index": 0, "delta": {"content": "a"}, "finish_reason": None}),
        chat({"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}),
        chat({"index": 0, "delta": {}, "finish_reason": "stop"}),
        chat({"index": 0, "delta": {"tool_calls": [1, 2]}, "finish_reason": "stop"}),
        chat({"index": 0, "delta": {"tool_calls": [1, 3]}, "finish_reason": "stop"}),
        frame({"id": "c", "choices": []}),
        frame({"id": "c", "choices": []}),
    ]
    assert len(outline(those)) == len(those)
    assert len(outline([frame({"choices": 1}), frame({"choices": 1, "usage": 2})])) == 2
