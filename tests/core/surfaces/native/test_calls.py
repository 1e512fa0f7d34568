"""N03, N04: calls of the native surface, whole, parsed, under ids that find the way back."""

import pytest

from proxy.core.errors import Unfit
from proxy.core.events import CallHead, PartEnded
from proxy.core.jsontext import WRITABLE_DEPTH
from proxy.core.model import Call, Text, ToolKind, ToolName
from proxy.core.surfaces.memory.call_ids import CallMap
from proxy.core.surfaces.native.calls import ParsedCalls, arguments_of, note
from tests.support.replies import SIGNER
from tests.support.tables import table

DEEP = '{"a":' * WRITABLE_DEPTH + "{}" + "}" * WRITABLE_DEPTH


def call(arguments: str = "{}", call_id: str = "call_a", backend_id: str | None = None) -> Call:
    return Call(call_id, ToolName("f"), ToolKind.FUNCTION, arguments, backend_id)


def test_nothing_is_said_before_the_end_and_all_of_it_then() -> None:
    form = ParsedCalls()
    head = CallHead("call_a", ToolName("f"), ToolKind.FUNCTION)
    assert form.opened(0, head, None) is form.fragment(0, head) is None
    entry = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": {"a": [1, {}]}}}
    ended = call('{"a":[1,{}]}')
    assert form.closed(2, ended, True, None) == {"tool_calls": [{"index": 2, **entry}]}
    assert form.entry(ended, True, {"a": "proof"}) == entry | {"extra_content": {"a": "proof"}}
    assert form.message([entry, entry]) == {"tool_calls": [{"index": 0, **entry}, {"index": 1, **entry}]}


def test_half_a_call_is_none() -> None:
    assert ParsedCalls().closed(0, call('{"a'), False, None) is None


@table("arguments", ["", "{", '{"a', "[1]", '"{}"', "null", "1", "nonsense", DEEP])
def test_arguments_that_are_no_object_are_an_error_never_a_string(arguments: str) -> None:
    with pytest.raises(Unfit) as unfit:
        arguments_of(call(arguments))
    assert unfit.value.code == "malformed_tool_arguments"
    assert unfit.value.type == "semantic_error"
    assert "f" in unfit.value.message


def test_what_is_forgiven_elsewhere_is_forgiven_here() -> None:
    assert arguments_of(call('{"a": NaN, "b": 18446744073709551616}')) == {"a": None, "b": 2**64}


def test_the_client_gets_the_map_with_the_calls_that_are_new_in_it() -> None:
    call_map = CallMap(SIGNER)
    call_map.note("call_old", "their-old")
    form = ParsedCalls(call_map)
    calls = [PartEnded(call(call_id="call_a", backend_id="their-1"), complete=True)]
    given = CallMap(SIGNER)
    assert given.learn(form.remarks(calls)["call_ids"])
    assert (given.backends("call_a"), given.backends("call_old")) == ("their-1", "their-old")


def test_without_calls_or_with_a_map_kept_here_the_client_gets_none() -> None:
    assert ParsedCalls(CallMap(SIGNER)).remarks([]) == {}
    assert ParsedCalls().remarks([PartEnded(call(), complete=True)]) == {}


def test_only_calls_are_noted_and_one_without_an_id_goes_by_ours() -> None:
    call_map = CallMap(SIGNER)
    note(call_map, [PartEnded(Text("x"), complete=True), PartEnded(call(), complete=True)])
    assert call_map.backends("call_a") == "call_a"
