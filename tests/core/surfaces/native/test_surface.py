"""N03: one request of the native surface, and its map of call ids, kept here or by the client."""

from hashlib import sha256
from typing import Any

from proxy.core.errors import ClientFault
from proxy.core.events import (
    CallHead,
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    Reply,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, ReplyPart, Text, ToolKind, ToolName
from proxy.core.stored.named import Known, Named
from proxy.core.stored.record import Record, Status
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import SSE
from proxy.core.surfaces.memory.call_ids import HEADER, MAX_TOKEN_IN_HEADER, CallMap, CallMaps
from proxy.core.surfaces.native.surface import NativeContext, NativeSurface
from tests.support.chat_streams import read_chat_stream
from tests.support.replies import NOW, SIGNER, counting_mint
from tests.support.tables import table

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a":1}', backend_id="their-1")


def reply(*parts: ReplyPart) -> Reply:
    return Reply([PartEnded(part, complete=True) for part in parts], ReplyEnded(Ending.COMPLETED))


def surface() -> NativeSurface:
    return NativeSurface(counting_mint(), lambda: NOW, CallMaps(SIGNER))


TALK: dict[str, Any] = {
    "model": "m",
    "conversation_id": "c",
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "done"},
    ],
}


def ids_in(read: NativeContext) -> list[str | None]:
    """The backend's ids of the calls in the history."""
    return [part.backend_id for _, parts in read.request.turns for part in parts if isinstance(part, Call)]


def asked(**fields: Any) -> NativeContext:
    return surface().read(BODY | fields, {}, Ledger())


def opened(token: str) -> CallMap:
    known = CallMap(SIGNER.of(""))
    assert known.learn(token)
    return known


def test_an_answer_needs_nothing_of_what_was_said() -> None:
    read, said = surface().read(BODY, {}, Ledger()), reply(CALL)
    before = read.whole(said)
    read.let_go()
    assert read.request.turns == []
    assert read.whole(said) == before


def test_what_was_read_is_told_to_the_log() -> None:
    ledger = Ledger()
    read = surface().read(BODY, {}, ledger)
    assert read.client.name == "default"
    assert ledger.facts == {"client": "default", "response_id": f"chatcmpl-{1:032x}"}
    assert read.request.model == "m"


def test_n04_arguments_are_an_object() -> None:
    [call] = asked().whole(reply(CALL)).body["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": {"a": 1}}


def test_a_client_without_a_conversation_gets_the_map_in_header_and_body() -> None:
    read = asked()
    answer, headers = read.whole(reply(CALL))
    token = answer["_proxy"]["call_ids"]
    assert headers == {HEADER: token}
    assert opened(token).backends("call_a") == "their-1"
    assert answer["_proxy"]["warnings"]


def test_it_gets_it_in_the_last_chunk_of_a_stream() -> None:
    frames: list[bytes] = []
    encoder = asked(stream=True).encoder(frames.append, SSE)
    for event in (
        ReplyStarted(),
        PartStarted(PartKind.CALL, CallHead("call_a", CALL.tool, CALL.kind, "their-1")),
        PartEnded(CALL, complete=True),
        ReplyEnded(Ending.COMPLETED),
    ):
        encoder.feed(event)
    last = read_chat_stream(b"".join(frames))[-1]
    assert opened(last["_proxy"]["call_ids"]).backends("call_a") == "their-1"


def test_it_gets_none_for_an_answer_without_calls() -> None:
    read = asked()
    answer, headers = read.whole(reply(Text("Hello")))
    assert "_proxy" not in answer
    assert headers == {}


def test_a_map_that_no_server_would_take_in_a_header_travels_in_the_body_alone() -> None:
    read = asked()
    hashes = [sha256(bytes([number])).hexdigest() for number in range(200)]
    calls = [Call(f"call_{each[:32]}", CALL.tool, CALL.kind, "{}", each) for each in hashes]
    answer, headers = read.whole(reply(*calls))
    assert len(answer["_proxy"]["call_ids"]) > MAX_TOKEN_IN_HEADER
    assert headers == {}


def test_of_a_conversation_the_proxy_keeps_the_map_once_the_reply_went_well() -> None:
    speaking = surface()
    read = speaking.read(BODY | {"conversation_id": "c"}, {}, Ledger())
    answer, headers = read.whole(reply(CALL))
    assert "call_ids" not in answer["_proxy"]
    assert headers == {}
    assert speaking.named(TALK, Ledger()) is not None
    read.remember(reply(CALL), "ann")
    assert speaking.named(TALK, Ledger()) is None
    assert ids_in(speaking.read(TALK, {}, Ledger())) == ["their-1"]


def test_u57_another_process_is_told_of_the_calls_that_it_will_be_asked_about() -> None:
    told = (
        surface()
        .read(BODY | {"conversation_id": "c"}, {}, Ledger())
        .remember(reply(Text("So:"), CALL), "ann")
    )
    other = surface()
    wanted = other.named(TALK, Ledger())
    assert wanted == Named(memos=list(told))
    read = other.read(TALK, {}, Ledger(), known=Known(wanted, memos=told))
    assert ids_in(read) == ["their-1"]
    assert list(read.remember(reply(), "ann")) == []
    assert other.named(TALK, Ledger()) is None
    assert read.shares


@table(
    "body",
    [
        BODY,
        {"messages": [1, {"role": "tool", "tool_call_id": "call_a"}]},
        BODY | {"conversation_id": 1},
        BODY | {"conversation_id": "c"},
        {"conversation_id": "c", "messages": "x"},
        {"conversation_id": "c", "messages": [1, {"tool_calls": 1}, {"tool_calls": [1, {"id": 1}]}]},
        {"conversation_id": "c", "messages": [{"tool_call_id": "x" * 1000}]},
        [],
    ],
)
def test_u57_who_names_no_calls_of_a_conversation_asks_nobody(body: Any) -> None:
    """D10: what is wrong there is told when it is read."""
    assert surface().named(body, Ledger()) is None


def test_4_3_a_signature_stands_with_its_call() -> None:
    thought = Reasoning("", {"google": {"signatures": [{"model": "m", "signature": "sig"}]}})
    [call] = asked().whole(reply(thought, CALL)).body["choices"][0]["message"]["tool_calls"]
    assert call["extra_content"] == {"google": {"thought_signature": "sig"}}


def test_without_a_conversation_there_is_nothing_to_remember() -> None:
    assert asked().remember(reply(CALL), "ann") == {}


def test_nothing_continues_a_completion() -> None:
    assert surface().named(BODY | {"previous_response_id": "resp_1"}, Ledger()) is None
    assert (asked().to_store(reply(CALL)), asked().record(reply(CALL))) == (None, None)
    asked().not_stored("Nobody was promised it.", Ledger())
    assert asked().queued() is None  # type: ignore[func-returns-value]
    record = Record("resp_1", Status.COMPLETED, 1, "m")
    assert asked().owning(record) is record


def test_limits_are_enforced_ids_are_ours_and_arguments_are_parsed() -> None:
    assert (surface().strict, surface().own_call_ids, surface().parses_arguments) == (True, True, True)


def test_an_error_has_its_envelope() -> None:
    """Of OpenAI's form: its clients read nothing else."""
    fault = ClientFault("No.", param="x", code="invalid_value")
    assert surface().error(fault) == error_body(fault)


def test_what_is_remembered_of_a_conversation_is_told_as_memos() -> None:
    """N03: whoever knows them reads the request as it was read here."""
    speaking = NativeSurface(counting_mint(), lambda: NOW, CallMaps(SIGNER))
    read = speaking.read(BODY | {"conversation_id": "c"}, {}, Ledger())
    ended = PartEnded(CALL, complete=True)
    read.remember(Reply([ended], ReplyEnded(Ending.COMPLETED)), "ann")
    call = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    history.append({"role": "tool", "tool_call_id": "call_a", "content": "1"})
    body = BODY | {"conversation_id": "c", "messages": BODY["messages"] + history}  # type: ignore[operator]
    memos = speaking.drawing(counting_mint(), lambda: 7.0).remembered(body, "")
    assert len(memos) == 1
    elsewhere = NativeSurface(counting_mint(), lambda: NOW, CallMaps(SIGNER))
    assert elsewhere.remembered(body, "") == elsewhere.remembered(BODY, "") == {}
    known = elsewhere.read(body, {}, Ledger(), known=Known(Named(), memos=memos))
    assert known.request == speaking.read(body, {}, Ledger()).request
