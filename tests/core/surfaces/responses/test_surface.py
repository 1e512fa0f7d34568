"""One request of the Responses surface, from what came in to whoever tells the answer."""

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Text, ToolKind, ToolName
from proxy.core.surfaces.clients import EventStyle
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import SSE
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.responses.compaction import CompactionObject
from proxy.core.surfaces.responses.latest_responses import LatestResponses
from proxy.core.surfaces.responses.message_first import MessageFirstEncoder
from proxy.core.surfaces.responses.surface import ResponsesOptions, ResponsesSurface
from tests.support.replies import counting_mint

BODY = {"model": "m", "input": "Hi", "stream": True}
REPLY = Reply([PartEnded(Text("Hello"), complete=True)], ReplyEnded(Ending.COMPLETED))


def surface(message_first: bool = False, memory: LatestResponses | None = None) -> ResponsesSurface:
    made = ResponsesSurface(
        counting_mint(), lambda: 1.0, TokenSigner("secret"), ResponsesOptions(EventStyle.AUTO, message_first)
    )
    return (
        made if memory is None else ResponsesSurface(made.mint, made.now, made.signer, made.options, memory)
    )


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
    assert speaking.continues(more) == stored.id == first.response.id
    ledger = Ledger()
    second = speaking.read(more, {}, ledger, before=jsontext.dumps(stored.items))
    assert [part.text for turn in second.request.turns for part in turn.parts] == ["Hi", "Hello", "More"]  # type: ignore[union-attr]
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
    ledger = Ledger()
    second = speaking.read(more, {}, ledger, before=jsontext.dumps(stored.items))
    assert [part.text for turn in second.request.turns for part in turn.parts] == ["Hi", "Hel", "More"]  # type: ignore[union-attr]


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
