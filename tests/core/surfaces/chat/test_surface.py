"""One request of the Chat surface, from what came in to whoever tells the answer."""

from typing import Any

from proxy.core.errors import ClientFault
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import Call, ReplyPart, Text, ToolKind, ToolName, Usage
from proxy.core.stored.record import Record, Status
from proxy.core.surfaces.chat.surface import ChatContext, ChatSurface
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import SSE
from tests.support.chat_streams import read_chat_stream
from tests.support.replies import NOW, counting_mint

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, "{}")
FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {}}}


def reply(*parts: ReplyPart) -> Reply:
    return Reply(
        [PartEnded(part, complete=True) for part in parts], ReplyEnded(Ending.COMPLETED, Usage(1, 2, 3))
    )


def asked(ledger: Ledger | None = None, **fields: Any) -> ChatContext:
    return ChatSurface(counting_mint(), lambda: NOW).read(BODY | fields, {}, ledger or Ledger())


def test_what_was_read_is_told_to_the_log() -> None:
    ledger = Ledger()
    read = ChatSurface(counting_mint(), lambda: NOW).read(BODY, {"x-stainless-lang": "js"}, ledger)
    assert read.client.name == "openai-node"
    assert ledger.facts == {"client": "openai-node", "response_id": f"chatcmpl-{1:032x}"}
    assert read.request.model == "m"


def test_a_whole_answer_adds_no_headers_and_leaves_nothing_to_remember() -> None:
    read = asked()
    said = reply(Text("Hello"))
    answer = read.whole(said)
    assert answer.body["choices"][0]["message"]["content"] == "Hello"
    assert answer.headers == {}
    assert read.remember(said, "ann") == {}
    assert read.shares
    assert read.whole(said) == read.whole(said)


def test_an_answer_needs_nothing_of_what_was_said() -> None:
    read, said = asked(), reply(Text("Hello"))
    before = read.whole(said)
    read.let_go()
    assert read.request.turns == []
    assert read.whole(said) == before


def test_nothing_continues_a_completion() -> None:
    surface = ChatSurface(counting_mint(), lambda: NOW)
    assert surface.named(BODY | {"previous_response_id": "resp_1"}, Ledger()) is None
    said = reply(Text("Hello"))
    assert (asked().to_store(said), asked().record(said)) == (None, None)
    asked().not_stored("Nobody was promised it.", Ledger())
    assert asked().queued() is None  # type: ignore[func-returns-value]
    record = Record("resp_1", Status.COMPLETED, 1, "m")
    assert asked().owning(record) is record


def test_a_stream_with_its_usage() -> None:
    frames: list[bytes] = []
    encoder = asked(stream=True, stream_options={"include_usage": True}).encoder(frames.append, SSE)
    encoder.feed(ReplyStarted())
    encoder.feed(ReplyEnded(Ending.COMPLETED, Usage(1, 2, 3)))
    assert read_chat_stream(b"".join(frames))[-1]["usage"]["total_tokens"] == 3


def test_the_old_form_of_tools_is_answered_in_the_old_form() -> None:
    assert "function_call" in asked(functions=[FUNCTION]).whole(reply(CALL)).body["choices"][0]["message"]
    tools = [{"type": "function", "function": FUNCTION}]
    assert "tool_calls" in asked(tools=tools).whole(reply(CALL)).body["choices"][0]["message"]


def test_c08_what_was_noted_while_reading_is_told() -> None:
    ledger = Ledger()
    read = asked(ledger)
    ledger.warn("Too long.")
    assert read.whole(reply(Text("x"))).body["_proxy"]["warnings"] == ["Too long."]


def test_limits_are_warned_of_ids_are_ours_and_arguments_stay_text() -> None:
    surface = ChatSurface(counting_mint(), lambda: NOW)
    assert (surface.strict, surface.own_call_ids, surface.parses_arguments) == (False, True, False)
    assert not surface.tells_hosted


def test_an_error_has_its_envelope() -> None:
    """Of OpenAI's form: its clients read nothing else."""
    fault = ClientFault("No.", param="x", code="invalid_value")
    assert ChatSurface(counting_mint(), lambda: NOW).error(fault) == error_body(fault)


def test_another_source_of_ids_and_dates_for_one_request() -> None:
    surface = ChatSurface(counting_mint(), lambda: NOW)
    other = surface.drawing(counting_mint(), lambda: 7.0)
    whole = other.read(BODY, {}, Ledger()).whole(reply(Text("Hi"))).body
    assert whole["created"] == 7
    assert other.remembered(BODY, "") == {}
