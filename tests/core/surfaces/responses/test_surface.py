"""One request of the Responses surface, from what came in to whoever tells the answer."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.events import Ending, PartEnded, PartKind, PartStarted, Reply, ReplyEnded, ReplyStarted
from proxy.core.ids import family_of, tail_of
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, Text, ToolKind, ToolName
from proxy.core.stored import histories
from proxy.core.stored.named import Known, Named
from proxy.core.stored.private import with_thought
from proxy.core.stored.record import Status
from proxy.core.surfaces.clients import NOTHING_MORE, EventStyle
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import LOG, SSE
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.compaction import CompactionObject
from proxy.core.surfaces.responses.message_first import MessageFirstEncoder
from proxy.core.surfaces.responses.surface import ResponsesContext, ResponsesOptions, ResponsesSurface
from tests.support.replies import counting_mint

CONVERSATION = counting_mint().conversation()
BODY = {"model": "m", "input": "Hi", "stream": True}
REPLY = Reply([PartEnded(Text("Hello"), complete=True)], ReplyEnded(Ending.COMPLETED))


def surface(message_first: bool = False) -> ResponsesSurface:
    options = ResponsesOptions(EventStyle.AUTO, message_first)
    return ResponsesSurface(counting_mint(), lambda: 1.0, TokenSigner("secret"), options)


def test_what_was_read_is_told_to_the_log() -> None:
    ledger = Ledger()
    asked = surface().read(BODY, {"originator": "codex_exec"}, ledger)
    assert asked.client.name == "codex"
    assert ledger.facts == {"client": "codex", "response_id": asked.response.id}


def test_a_stream_and_a_whole_answer() -> None:
    frames: list[bytes] = []
    encoder = surface().read(BODY, {}, Ledger()).encoder(frames.append, SSE)
    encoder.feed(ReplyStarted())
    assert frames[0].startswith(b"event: response.created\n")
    asked = surface().read(BODY, {}, Ledger())
    answer = asked.whole(REPLY)
    assert answer.body["output"][0]["content"][0]["text"] == "Hello"
    assert answer.headers == {}


def test_the_configured_order_of_items_and_none_for_a_summary() -> None:
    asked = surface(message_first=True).read(BODY, {}, Ledger())
    assert isinstance(asked.encoder([].append, SSE), MessageFirstEncoder)
    summing = BODY | {"input": [{"role": "user", "content": "Hi"}, {"type": "compaction_trigger"}]}
    asked = surface(message_first=True).read(summing, {}, Ledger())
    assert not isinstance(asked.encoder([].append, SSE), MessageFirstEncoder)


def test_what_was_answered_can_be_continued() -> None:
    speaking = surface()
    first = speaking.read(BODY, {}, Ledger())
    first.whole(REPLY)
    stored = first.to_store(REPLY)
    more = {"model": "m", "input": "More", "previous_response_id": first.response.id}
    named = speaking.named(more, Ledger())
    assert named is not None
    assert named.previous == stored.id == first.response.id
    ledger = Ledger()
    second = speaking.read(more, {}, ledger, known=Known(named, jsontext.dumps(stored.items)))
    assert [part for _, parts in second.request.turns for part in parts] == ["Hi", Text("Hello"), "More"]
    assert ledger.facts["continues"] == first.response.id


def test_half_a_call_is_not_continued() -> None:
    """Nobody ran it, so nobody can say what came of it."""
    cut = Call("call_a", ToolName("f"), ToolKind.FUNCTION, '{"a')
    reply = Reply([PartEnded(Text("Hel"), True), PartEnded(cut, False)], ReplyEnded(Ending.MAX_TOKENS))
    speaking = surface()
    first = speaking.read(BODY, {}, Ledger())
    assert [item["status"] for item in first.whole(reply).body["output"]] == ["completed", "incomplete"]
    stored = first.to_store(reply)
    more = {"model": "m", "input": "More", "previous_response_id": first.response.id}
    known = Known(Named(previous=stored.id), jsontext.dumps(stored.items))
    second = speaking.read(more, {}, Ledger(), known=known)
    assert [part for _, parts in second.request.turns for part in parts] == ["Hi", Text("Hel"), "More"]


KEPT = BODY | {"stream": False}
THOUGHT = Reasoning("", {"anthropic": {"signatures": ["s"]}})


def keeping(**options: Any) -> ResponsesSurface:
    made = surface()
    return replace(made, options=replace(made.options, stores=True, **options))


@pytest.mark.parametrize("wish", [None, True])
def test_an_answer_is_kept_unless_its_client_says_otherwise(wish: bool | None) -> None:
    asked = keeping().read(KEPT | {"store": wish}, {}, Ledger())
    assert asked.shares
    assert asked.remember(REPLY, "ann") == {}
    record = asked.record(REPLY)
    assert record is not None
    assert asked.whole(REPLY).body["store"] is True
    answer = jsontext.loads(record.answer)
    assert (answer["store"], answer["output"]) == (True, [])
    assert (record.id, record.status, record.streamed) == (asked.response.id, Status.COMPLETED, False)
    assert answer | {"output": jsontext.loads(record.output)} == asked.whole(REPLY).body
    (question,) = jsontext.loads(record.input)
    assert question["content"] == [{"type": "input_text", "text": "Hi"}]
    assert tail_of(question["id"]) == tail_of(record.id)


def test_what_is_not_to_be_kept_makes_no_record() -> None:
    for fields in ({"store": False}, {"generate": False}):
        asked = keeping().read(KEPT | fields, {}, Ledger())
        assert asked.record(REPLY) is None
        assert not asked.shares
        assert asked.whole(REPLY).body["store"] is False
    asked = surface().read(KEPT | {"store": True}, {}, Ledger())
    assert asked.record(REPLY) is None, "there is no store"
    summed_up = replace(keeping(), form=CompactionObject).read(KEPT, {}, Ledger())
    assert summed_up.record(REPLY) is None, "its id is no parent"


def test_what_could_not_be_kept_says_so() -> None:
    ledger = Ledger()
    asked = keeping().read(KEPT, {}, ledger)
    assert asked.record(REPLY) is not None
    asked.not_stored("The store is down.", ledger)
    body = asked.whole(REPLY).body
    assert (body["store"], body["_proxy"]) == (False, {"warnings": ["The store is down."]})


def test_u48_a_record_may_own_the_history_that_it_continues() -> None:
    """Also what another family of models thought, which this model was not told: the next may be of that family."""
    thought = with_thought({"type": "reasoning", "id": "rs_1", "summary": []}, Reasoning("Hm."), "other")
    said = {"type": "message", "id": "msg_1", "role": "user", "status": "completed", "content": []}
    history = jsontext.dumps([thought, said, {"role": "user", "content": "And?"}])
    known = Known(Named(previous="resp_1", response="resp_2", stores=True), history)
    asked = keeping().read(KEPT, {}, Ledger(), known=known)
    record = asked.record(REPLY)
    assert record is not None
    owning = asked.owning(record)
    (own,) = jsontext.loads(record.input)
    items = jsontext.loads(owning.input)
    assert items[:2] == [thought, said]
    assert items[2]["content"] == [{"type": "input_text", "text": "And?"}]
    assert items[3:] == [own]
    assert len({item["id"] for item in items}) == 4
    assert owning == replace(record, parent=None, input=owning.input)
    assert record.parent == "resp_1"


@pytest.mark.parametrize("message_first", [False, True])
def test_a_stream_is_kept_with_the_items_that_its_end_tells(message_first: bool) -> None:
    """Also with those that were cut, which are told before the record is made."""
    frames: list[bytes] = []
    asked = keeping(message_first=message_first).read(BODY | {"stream": True}, {}, Ledger())
    encoder = asked.encoder(frames.append, SSE)
    encoder.feed(ReplyStarted())
    encoder.feed(PartStarted(PartKind.TEXT))
    encoder.delta("Hel", None)
    encoder.feed(PartEnded(Text("Hel"), False))
    reply = Reply([PartEnded(Text("Hel"), False)], ReplyEnded(Ending.MAX_TOKENS))
    record = asked.record(reply)
    assert record is not None
    assert reply.ended is not None
    encoder.feed(reply.ended)
    last = jsontext.loads(frames[-2].partition(b"data: ")[2])
    assert last["type"] == "response.incomplete"
    assert last["response"]["output"] == jsontext.loads(record.output)
    assert (record.status, record.streamed) == (Status.INCOMPLETE, True)
    done = [frame for frame in frames if b"response.output_item.done" in frame]
    assert len(done) == 1


def test_what_only_the_backend_wants_back_is_kept_and_not_shown() -> None:
    asked = keeping().read(KEPT, {}, Ledger())
    reply = Reply([PartEnded(THOUGHT, True), *REPLY.parts], ReplyEnded(Ending.COMPLETED))
    record = asked.record(reply)
    assert record is not None
    assert b"signature" in record.output
    assert b"signature" not in jsontext.dumps(asked.whole(reply).body)
    known = Known(Named(previous=record.id), histories.history_of([record], Ledger()))
    again = keeping().read({"model": "m", "input": "More"}, {}, Ledger(), known=known)
    assert [part for _, parts in again.request.turns for part in parts][1] == THOUGHT


def test_a_conversation_is_named_by_the_request_and_the_answer() -> None:
    speaking = keeping()
    body = KEPT | {"conversation": {"id": CONVERSATION}}
    named = speaking.named(body, Ledger())
    assert named is not None
    assert (named.conversation, named.stores) == (CONVERSATION, True)
    ledger = Ledger()
    asked = speaking.read(body, {}, ledger, known=Known(named))
    record = asked.record(REPLY)
    assert record is not None
    assert (record.id, record.conversation) == (named.response, CONVERSATION)
    assert family_of(record.id) == family_of(CONVERSATION)
    assert asked.whole(REPLY).body["conversation"] == {"id": CONVERSATION}
    assert ledger.facts["conversation"] == CONVERSATION
    unstored = speaking.named(body | {"store": False}, Ledger())
    assert unstored is not None
    speaking.read(body | {"store": False}, {}, ledger, known=Known(unstored))
    assert "added to the conversation" in ledger.warnings[0]
    with pytest.raises(ClientFault, match="nothing is kept here"):
        surface().named(body, Ledger())


def test_what_names_nothing_is_read_at_once() -> None:
    for body in (KEPT, KEPT | {"previous_response_id": None, "conversation": None}, [], "x"):
        assert keeping().named(body, Ledger()) is None


def test_a_wrong_field_is_told_before_anything_is_looked_up() -> None:
    with pytest.raises(ClientFault, match="temperature"):
        keeping().named(KEPT | {"previous_response_id": "resp_1", "temperature": 9}, Ledger())


def test_a_reference_is_named() -> None:
    named = keeping().named(KEPT | {"input": [{"id": "msg_1"}], "store": False}, Ledger())
    assert named is not None
    assert (named.references, named.previous, named.stores) == (["msg_1"], None, False)


def test_another_form_of_answer() -> None:
    made = surface()
    other = ResponsesSurface(made.mint, made.now, made.signer, made.options, form=CompactionObject)
    assert other.read(BODY, {}, Ledger()).whole(REPLY).body["object"] == "response.compaction"


def test_what_the_client_should_know_stands_beside_its_answer() -> None:
    ledger = Ledger()
    asked = surface().read(BODY, {}, ledger)
    ledger.warn("'tools' declares many tools.")
    assert asked.whole(REPLY).body["_proxy"] == {"warnings": ["'tools' declares many tools."]}
    assert "_proxy" not in surface().read(BODY, {}, Ledger()).whole(REPLY).body


def test_an_error_has_its_envelope() -> None:
    """Of OpenAI's form: its clients read nothing else."""
    fault = ClientFault("No.", param="x", code="invalid_value")
    assert surface().error(fault) == error_body(fault)


def test_an_answer_that_nobody_keeps_needs_nothing_of_what_was_said() -> None:
    asked = surface().read(BODY | {"store": False}, {}, Ledger())
    before = asked.whole(REPLY)
    asked.let_go()
    assert (asked.request.turns, asked.body) == ([], {})
    assert asked.whole(REPLY) == before


def test_when_the_rest_was_let_go_there_is_what_is_to_be_kept() -> None:
    """The history that a record may have to own, too."""
    named = Named(previous="resp_1", response=counting_mint().response())
    history = b'[{"type":"message","role":"user","content":"Before"}]'
    asked = keeping().read(BODY, {}, Ledger(), known=Known(named, history))
    asked.let_go()
    record = asked.record(REPLY)
    assert record is not None
    for kept, said in ((record, ["Hi"]), (asked.owning(record), ["Before", "Hi"])):
        assert [item["content"][0]["text"] for item in jsontext.loads(kept.input)] == said


# ── in the background ──


def in_background(**body: Any) -> ResponsesContext:
    options = ResponsesOptions(EventStyle.EXTENDED, message_first=False, stores=True, background=True)
    offering = ResponsesSurface(counting_mint(), lambda: 1.0, TokenSigner("secret"), options)
    return offering.read(BODY | {"background": True} | body, {}, Ledger())


def test_t43_work_in_the_background_has_a_record_before_its_reply() -> None:
    asked = in_background()
    queued = asked.queued()
    assert queued is not None
    assert (queued.status, queued.background, queued.streamed, queued.lasting) == ("queued", True, True, True)
    told = jsontext.loads(queued.answer)
    assert (told["status"], told["background"], told["output"]) == ("queued", True, [])
    done = asked.record(REPLY)
    assert done is not None
    assert (done.id, done.input, done.background) == (queued.id, queued.input, True)
    assert done.status is Status.COMPLETED


def test_t43_it_is_created_queued_and_then_in_progress() -> None:
    frames: list[bytes] = []
    in_background().encoder(frames.append, LOG).feed(ReplyStarted())
    told = [jsontext.loads(frame) for frame in frames]
    assert [(event["type"], event["response"]["status"]) for event in told] == [
        ("response.created", "queued"),
        ("response.queued", "queued"),
        ("response.in_progress", "in_progress"),
    ]


def test_t47_without_store_it_is_kept_for_a_while() -> None:
    """And adds nothing to a conversation, whose lock it does not take."""
    body = {"store": False, "conversation": CONVERSATION}
    named = Named(conversation=CONVERSATION, response=counting_mint().response())
    options = ResponsesOptions(EventStyle.AUTO, message_first=False, stores=True, background=True)
    offering = ResponsesSurface(counting_mint(), lambda: 1.0, TokenSigner("secret"), options)
    asked = offering.read(BODY | {"background": True} | body, {}, Ledger(), known=Known(named))
    for record in (asked.queued(), asked.record(REPLY)):
        assert record is not None
        assert (record.lasting, record.conversation) == (False, None)
        assert jsontext.loads(record.answer)["store"] is False
        assert jsontext.loads(record.answer)["conversation"] == {"id": CONVERSATION}


def test_t67_it_has_standard_events_only() -> None:
    assert in_background().extended == NOTHING_MORE


@pytest.mark.parametrize("body", [{"background": False}, {"background": None}, {"generate": False}])
def test_all_else_is_waited_for(body: dict[str, Any]) -> None:
    assert in_background(**body).queued() is None


def test_t48_it_is_refused_where_nobody_goes_on_with_it() -> None:
    for refusing in (keeping(), replace(keeping(background=True), form=CompactionObject)):
        with pytest.raises(ClientFault, match="background is not supported"):
            refusing.read(BODY | {"background": True}, {}, Ledger())


def test_thoughts_are_of_the_model_whatever_its_clients_call_it() -> None:
    """T15: an alias is none of another family, and may stand for another model tomorrow."""
    speaking = replace(keeping(), real_name={"fast": "claude-5", "other": "gpt-5"}.get)  # type: ignore[arg-type]
    asked = speaking.read(KEPT | {"model": "fast"}, {}, Ledger())
    thought = Reasoning("Hm.", {"chat": {"reasoning_details": []}})
    ended = [PartEnded(thought, True), *REPLY.parts]
    record = asked.record(Reply(ended, REPLY.ended))
    assert record is not None
    assert record.model == "fast"
    for model, left_out in (("fast", False), ("other", True)):
        known = Known(Named(previous=record.id, response="resp_2"), record.output)
        ledger = Ledger()
        speaking.read({"model": model, "input": "More"}, {}, ledger, known=known)
        assert ("foreign_reasoning" in ledger.dropped) is left_out


def test_another_source_of_ids_and_dates_for_one_request() -> None:
    other = surface().drawing(counting_mint(), lambda: 7.0)
    assert other.read(BODY, {}, Ledger()).whole(REPLY).body["created_at"] == 7
    assert other.remembered(BODY, "") == {}
