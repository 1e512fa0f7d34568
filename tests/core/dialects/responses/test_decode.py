"""From the wire to deltas: as OpenAI streams it, and as other servers do."""

from proxy.core import jsontext
from proxy.core.dialects.responses.decode import ResponsesDecoder
from proxy.core.events import (
    CallDelta,
    CallEndDelta,
    Finish,
    FinishDelta,
    HostedDelta,
    MessageDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from tests.support.responses_requests import (
    END,
    STOPPED,
    USAGE,
    Decoded,
    added,
    arguments,
    decoded,
    done,
    event,
    function_call,
    message,
    openai,
    output_text,
    over,
    reasoning,
    text,
    thought,
    told,
)

# ── as OpenAI streams it ──


def test_a_message_is_told_once_however_often_it_is_repeated() -> None:
    """In pieces, at the end of its part, of its item and of the response."""
    said = message("Hello", status="completed")
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    assert told(
        event("created", response={"output": []}),
        event("in_progress", response={"output": []}),
        added(message(), 0),
        event("content_part.added", part=output_text(""), **where),
        text("Hel"),
        text("lo"),
        event("output_text.done", text="Hello", **where),
        event("content_part.done", part=output_text("Hello"), **where),
        done(said, 0),
        over(said, usage=USAGE),
    ) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageDelta(Usage(9, 5, 14, 4, 2)),
        STOPPED,
        END,
    ]


def test_calls_one_after_another() -> None:
    one, two = function_call('{"a":1}'), function_call("", "c2", "g", "fc_2")
    assert told(
        added(function_call(), 0),
        arguments('{"a":'),
        arguments("1}"),
        event("function_call_arguments.done", arguments='{"a":1}', item_id="fc_1", output_index=0),
        done(one, 0),
        added(two, 1),
        done(two, 1),
        over(one, two),
    ) == [
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments='{"a":'),
        CallDelta(0, arguments="1}"),
        CallEndDelta(0),
        CallDelta(1, "c2", "g"),
        CallEndDelta(1),
        STOPPED,
        END,
    ]


def test_a_summary_in_parts_and_what_is_sealed() -> None:
    """A blank line stands between two thoughts, whether they are parts of one item or items of their own."""
    sealed = reasoning("One.", "Two.", encrypted_content="abc", status="completed")
    said = decoded(
        added(reasoning(encrypted_content="ab"), 0),
        thought("One."),
        thought("Two", 1),
        thought(".", 1),
        event("reasoning_summary_text.done", text="Two.", item_id="rs_1", output_index=0, summary_index=1),
        event("reasoning_summary_part.done", part={"type": "summary_text", "text": "Two."}, item_id="rs_1",
              output_index=0, summary_index=1),
        done(sealed, 0),
        done(reasoning("Three.", id="rs_2"), 1),
        done(message("So."), 2),
        over(),
    )  # fmt: skip
    assert said.deltas == [
        ReasoningDelta("One."),
        ReasoningDelta("\n\nTwo"),
        ReasoningDelta("."),
        ReasoningDelta("\n\nThree."),
        TextDelta("So."),
        STOPPED,
        END,
    ]
    kept = {name: value for name, value in sealed.items() if name != "status"}
    assert said.kept == [{"responses": {"items": [{"model": "gpt-5.6", "item": kept}]}}]
    assert said.ledger.oddities == {}


def test_behind_an_answer_a_thought_begins_anew() -> None:
    later = told(done(reasoning("A")), done(message("B")), done(reasoning("C", id="rs_2")))
    assert later == [ReasoningDelta("A"), TextDelta("B"), ReasoningDelta("C")]


def test_a_custom_tool_takes_its_input_as_it_is() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "sh", "input": ""}
    where = {"item_id": "ctc_1", "output_index": 0}
    assert told(
        added(item, 0),
        event("custom_tool_call_input.delta", delta="ls", **where),
        event("custom_tool_call_input.done", input="ls -l", **where),
        done(item | {"input": "ls -l\n"}, 0),
    ) == [
        CallDelta(0, "c1", "sh", freeform=True),
        CallDelta(0, arguments="ls"),
        CallDelta(0, arguments=" -l"),
        CallDelta(0, arguments="\n"),
        CallEndDelta(0),
    ]


def test_a_refusal() -> None:
    part = {"type": "refusal", "refusal": "No."}
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    assert told(
        event("refusal.delta", delta="N", **where),
        event("refusal.done", refusal="No.", **where),
        event("content_part.done", part=part, **where),
        done(message(part), 0),
    ) == [RefusalDelta("N"), RefusalDelta("o.")]


def test_messages_are_told_apart_with_their_phases_and_annotations() -> None:
    link = {
        "type": "url_citation",
        "url": "https://x.example",
        "title": "x",
        "start_index": 0,
        "end_index": 2,
    }
    note = event("output_text.annotation.added", item_id="msg_2", output_index=1, annotation=link)
    assert told(
        added(message(phase="commentary"), 0),
        text("I look."),
        done(message("I look.", phase="commentary"), 0),
        added(message(id="msg_2", phase="final_answer"), 1),
        text("It", 1, "msg_2"),
        note,
        note | {"annotation": "no object"},
        done(message("It", id="msg_2"), 1),
        done(message("and", output_text("so", annotations=[link, 7]), id="msg_3"), 2),
    ) == [
        MessageDelta(phase="commentary"),
        TextDelta("I look."),
        MessageDelta(phase="final_answer"),
        TextDelta("It"),
        MessageDelta([link]),
        MessageDelta(),
        TextDelta("andso"),
        MessageDelta([link | {"start_index": 3, "end_index": 5}]),
    ]


def test_tools_of_the_backend_tell_what_they_did() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    said = decoded(
        added(search | {"status": "in_progress"}, 0),
        event("web_search_call.searching", item_id="ws_1", output_index=0),
        done(search, 0),
        added({"type": "mcp_call", "id": "mcp_1"}, 1),
        over(search, {"type": "mcp_call", "id": "mcp_1", "output": "x"}),
    )
    assert said.deltas == [
        HostedDelta(search),
        HostedDelta({"type": "mcp_call", "id": "mcp_1", "output": "x"}),
        STOPPED,
        END,
    ]
    assert said.ledger.oddities == {}


def test_log_probabilities_are_made_readable() -> None:
    entry = {"token": "é", "logprob": -0.5, "bytes": None, "top_logprobs": [], "more": 1}
    (delta,) = told(text("é", logprobs=[entry, 7]))
    assert isinstance(delta, TextDelta)
    assert delta.logprobs == [{"token": "é", "logprob": -0.5, "bytes": [195, 169], "top_logprobs": []}]


# ── as other servers do ──


def test_without_numbers_indexes_names_or_ends() -> None:
    """llama.cpp: no index anywhere, no id of a call but its `call_id`, and a thought in plain words."""
    call = function_call('{"a":1}', "fc_x", id=None)
    assert told(
        added(reasoning(content=[], encrypted_content="")),
        event("reasoning_text.delta", delta="Hm", item_id="rs_1"),
        added(message()),
        event("output_text.delta", delta="Hi", item_id="msg_1"),
        added(function_call("", "fc_x", id=None)),
        event("function_call_arguments.delta", delta='{"a":1}', item_id="fc_x"),
        done(reasoning(content=[{"type": "reasoning_text", "text": "Hm"}], encrypted_content="")),
        done(message("Hi")),
        done(call),
        over(reasoning(content=[{"type": "reasoning_text", "text": "Hm"}]), message("Hi"), call),
    ) == [
        ReasoningDelta("Hm"),
        TextDelta("Hi"),
        CallDelta(0, "fc_x", "f"),
        CallDelta(0, arguments='{"a":1}'),
        CallEndDelta(0),
        STOPPED,
        END,
    ]


def test_nothing_announced_and_nothing_ended() -> None:
    """LiteLLM: the stream begins with a delta, and all the rest is the response at the end."""
    assert told(text("Hel"), over(message("Hello", id="msg_other"))) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        STOPPED,
        END,
    ]


def test_nothing_but_the_end() -> None:
    """All of it is told, in its order."""
    link = {"type": "url_citation", "url": "u", "start_index": 0, "end_index": 1}
    assert told(
        over(
            reasoning("Hm."),
            message(output_text("A", annotations=[link]), phase="commentary"),
            function_call({"a": 1}),
            status="completed",
        )
    ) == [
        ReasoningDelta("Hm."),
        MessageDelta(phase="commentary"),
        TextDelta("A"),
        MessageDelta([link]),
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments='{"a":1}'),
        CallEndDelta(0),
        STOPPED,
        END,
    ]


def test_only_whole_texts() -> None:
    """Without any delta; the name of the event stands beside it, or in it."""
    said = Decoded()
    said.decoder.event(jsontext.dumps({"text": "Hi"}), b"response.output_text.done")
    said.say(over())
    assert said.deltas == [TextDelta("Hi"), STOPPED, END]
    assert told(
        event("reasoning_text.done", text="Hm"), event("content_part.done", part=output_text("Hi"))
    ) == [
        ReasoningDelta("Hm"),
        TextDelta("Hi"),
    ]


def test_ids_that_change_in_every_event() -> None:
    """Copilot: only the place says what belongs together."""
    assert told(
        added(function_call(id="x1"), 0),
        arguments('{"a"', item="x2"),
        arguments(":1}", item="x3"),
        done(function_call('{"a":1}', id="x4"), 0),
        over(function_call('{"a":1}', id="x5")),
    ) == [
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments='{"a"'),
        CallDelta(0, arguments=":1}"),
        CallEndDelta(0),
        STOPPED,
        END,
    ]


def test_one_place_for_all() -> None:
    """vLLM, in its first year: empty ids, and the place 0 throughout."""
    assert told(
        added(function_call("", "c1", id=""), 0),
        arguments("{}", item=""),
        done(function_call("{}", "c1", id=""), 0),
        added(function_call("", "c2", id=""), 0),
        arguments('{"b":1}', item=""),
        done(function_call('{"b":1}', "c2", id=""), 0),
    ) == [
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments="{}"),
        CallEndDelta(0),
        CallDelta(1, "c2", "f"),
        CallDelta(1, arguments='{"b":1}'),
        CallEndDelta(1),
    ]


def test_calls_side_by_side() -> None:
    assert told(
        added(function_call("", "c1", id="a"), 0),
        added(function_call("", "c2", id="b"), 1),
        arguments("{", 1, "b"),
        arguments("{}", 0, "a"),
        arguments("}", 1, "b"),
        done(function_call("{}", "c2", id="b"), 1),
        done(function_call("{}", "c1", id="a"), 0),
    )[2:5] == [
        CallDelta(1, arguments="{"),
        CallDelta(0, arguments="{}"),
        CallDelta(1, arguments="}"),
    ]


def test_arguments_at_the_beginning_count_only_if_nothing_else_comes() -> None:
    """Some announce a call with all its arguments and then stream them; some with an empty object."""
    full = function_call('{"a":1}')
    assert told(added(full, 0), arguments('{"a":1}'), done(full, 0))[1:] == [
        CallDelta(0, arguments='{"a":1}'),
        CallEndDelta(0),
    ]
    assert told(added(full, 0), over())[1:3] == [CallDelta(0, arguments='{"a":1}'), CallEndDelta(0)]


def test_a_name_that_comes_late() -> None:
    late = event("function_call_arguments.done", arguments="{}", name="f", item_id="x")
    assert told(arguments("{}", item="x"), late, late) == [
        CallDelta(0, arguments="{}"),
        CallDelta(0, None, "f"),
    ]


def test_a_tool_of_a_namespace_has_the_name_that_it_was_declared_by() -> None:
    assert told(added(function_call(namespace="docs"), 0)) == [CallDelta(0, "c1", "docs__f")]


def test_a_thought_that_is_called_text() -> None:
    """The item's id tells whose text it is."""
    assert told(
        added(reasoning(id="rs_1"), 0),
        text("Hm", 0, "rs_1"),
        event("output_text.done", text="Hm.", item_id="rs_1"),
        event("content_part.done", part=output_text("Hm."), item_id="rs_1"),
        done(reasoning(content=[{"type": "text", "text": "Hm."}]), 0),
    ) == [ReasoningDelta("Hm"), ReasoningDelta(".")]


def test_a_thought_and_its_summary() -> None:
    """One of both is enough: the one that comes first."""
    said = decoded(
        event("reasoning_text.delta", delta="Long", item_id="rs_1"),
        thought("Short"),
        done(reasoning("Short", content=[{"type": "reasoning_text", "text": "Longer"}]), 0),
    )
    assert said.deltas == [ReasoningDelta("Long"), ReasoningDelta("er")]
    assert said.ledger.oddities == {"thought_told_twice": 1}


def test_the_end_mark_is_no_end_where_calls_are_open() -> None:
    """It proves that nothing follows, and not that anything is whole."""
    assert told(added(function_call(), 0), arguments('{"a"'), b"[DONE]", b"[DONE]") == [
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments='{"a"'),
        END,
    ]
    assert told(text("Hi"), over(), b" [DONE] ") == [TextDelta("Hi"), STOPPED, END]


def test_what_the_limit_has_cut_is_not_whole() -> None:
    cut = over(
        message("A"),
        function_call('{"a"'),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    assert told(cut) == [
        TextDelta("A"),
        CallDelta(0, "c1", "f"),
        CallDelta(0, arguments='{"a"'),
        FinishDelta(Finish.LENGTH),
        END,
    ]
    assert told(done(function_call('{"a"', status="incomplete"), 0))[-1] == CallDelta(0, arguments='{"a"')


def test_the_end_comes_once() -> None:
    said = decoded(text("Hi"), over(), over(message("Hello")))
    assert said.deltas == [TextDelta("Hi"), STOPPED, END]
    assert said.ledger.oddities == {"finish_repeated": 1}


def test_any_of_them_may_want_its_thoughts_back() -> None:
    assert ResponsesDecoder.wants_extras_back(openai(replay="none"))
