"""C06: the forms of calls. That a stream of them joins to the whole is a property (`test_chat_streams`)."""

import re

from proxy.core.events import CallHead, PartEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Call, ToolKind, ToolName
from proxy.core.surfaces.chat.calls import ONE_CALL, FunctionCall, ToolCalls
from tests.support.tables import table

HEAD = CallHead("call_a", ToolName("f"), ToolKind.FUNCTION)
CALL = Call("call_a", ToolName("f"), ToolKind.FUNCTION, "not JSON")


@table("kind, inner", [(ToolKind.FUNCTION, "function"), (ToolKind.CUSTOM, "custom")])
def test_a_call_is_begun_and_continued_in_the_member_of_its_type(kind: ToolKind, inner: str) -> None:
    head = CallHead("call_a", ToolName("f"), kind)
    [begun] = (ToolCalls().opened(3, head, None) or {})["tool_calls"]
    [more] = (ToolCalls().fragment(3, head) or {})["tool_calls"]
    assert begun["type"] == inner
    assert begun.keys() == {"index", "id", "type", inner}
    assert more.keys() == {"index", inner}
    assert begun["index"] == more["index"] == 3
    assert begun[inner] == {"name": "f"} | more[inner]


def test_a_fragment_has_one_empty_string_and_it_is_the_last() -> None:
    for form in (ToolCalls(), FunctionCall(Ledger())):
        assert len(re.findall("''", str(form.fragment(0, HEAD)))) == 1


def test_arguments_are_a_string_whatever_the_model_wrote() -> None:
    entry = ToolCalls().entry(CALL, True, None) or {}
    assert entry["function"]["arguments"] == "not JSON"


def test_nothing_is_left_to_say_at_the_end_and_nothing_beside() -> None:
    assert ToolCalls().closed(0, CALL, True, None) is None
    assert ToolCalls().remarks([PartEnded(CALL, complete=True)]) == {}


def test_in_the_old_form_further_calls_have_no_place_and_the_client_hears_of_it() -> None:
    streamed, whole = Ledger(), Ledger()
    form = FunctionCall(streamed)
    assert form.opened(0, HEAD, None)
    assert streamed.warnings == []
    assert form.opened(1, HEAD, None) is form.fragment(1, HEAD) is None
    entries = [{"name": "f", "arguments": "{}"}, {"name": "g", "arguments": "{}"}]
    assert FunctionCall(whole).message(entries) == {"function_call": entries[0]}
    assert streamed.warnings == whole.warnings == [ONE_CALL]


def test_a_proof_goes_with_the_call() -> None:
    proof = {"google": {"thought_signature": "s"}}
    assert (ToolCalls().entry(CALL, True, proof) or {})["extra_content"] == proof
    [begun] = (ToolCalls().opened(0, HEAD, proof) or {})["tool_calls"]
    assert begun["extra_content"] == proof
