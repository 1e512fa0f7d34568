"""R03 and G10: the one order that every backend accepts, whatever order the items came in."""

import pytest

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Audio,
    File,
    Image,
    Reasoning,
    Refusal,
    Result,
    Role,
    Text,
    ToolKind,
    ToolName,
)
from proxy.core.surfaces.reading.history import PENDING_RESULT, canonical
from tests.support.responses_asks import (
    Notes,
    ask,
    assistant,
    call,
    called,
    output,
    refused,
    result,
    spoken,
    turns,
    user,
)
from tests.support.tables import table

A, B, C = called("a"), called("b"), called("c")
MISSING = Result("a", ["aborted"], is_error=True)
SYSTEM = {"role": "system", "content": "Be brief."}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}


@table(
    ("items", "expected"),
    [
        pytest.param(
            [user("Hi"), user("There")],
            [("user", ["Hi"]), ("user", ["There"])],
            id="user items stay apart",
        ),
        pytest.param(
            [SYSTEM, user("Hi"), SYSTEM],
            [("system", ["Be brief."]), ("user", ["Hi"]), ("system", ["Be brief."])],
            id="system messages keep their place",
        ),
        pytest.param(
            [THOUGHT, assistant("Well"), call("a"), call("b"), output("a"), output("b"), assistant("Done")],
            [
                ("assistant", [Reasoning("hm"), Text("Well"), A, B]),
                ("tool", [result("a"), result("b")]),
                ("assistant", [Text("Done")]),
            ],
            id="adjacent assistant items are one turn",
        ),
        pytest.param(
            [call("a"), assistant("Wait"), output("a")],
            [("assistant", [A, Text("Wait")]), ("tool", [result("a")])],
            id="call, message, output",
        ),
        pytest.param(
            [call("a"), output("a"), call("b"), output("b")],
            [("assistant", [A]), ("tool", [result("a")]), ("assistant", [B]), ("tool", [result("b")])],
            id="one call after the other",
        ),
        pytest.param(
            [call("a"), call("b"), output("b"), output("a")],
            [("assistant", [A, B]), ("tool", [result("a"), result("b")])],
            id="outputs come in call order",
        ),
        pytest.param(
            [call("a"), call("b"), output("b"), user("And?"), output("a")],
            [("assistant", [A, B]), ("tool", [result("a"), result("b")]), ("user", ["And?"])],
            id="an output after a later message",
        ),
        pytest.param(
            [call("a"), call("b"), output("a"), call("c"), output("c"), output("b")],
            [
                ("assistant", [A, B]),
                ("tool", [result("a"), result("b")]),
                ("assistant", [C]),
                ("tool", [result("c")]),
            ],
            id="interleaved",
        ),
        pytest.param(
            [output("a"), call("a"), assistant("Done")],
            [("assistant", [A, Text("Done")]), ("tool", [result("a")])],
            id="an output before its call",
        ),
        pytest.param(
            [call("a"), user("Hi"), assistant("One"), output("a"), assistant("Two")],
            [
                ("assistant", [A]),
                ("tool", [result("a")]),
                ("user", ["Hi"]),
                ("assistant", [Text("One"), Text("Two")]),
            ],
            id="an output fetched away leaves its neighbours adjacent",
        ),
        pytest.param(
            [user("Hi"), assistant(""), call("a"), output("a")],
            [("user", ["Hi"]), ("assistant", [A]), ("tool", [result("a")])],
            id="an empty assistant message is harmless",
        ),
        pytest.param(
            [user("Hi"), assistant(None), assistant([])],
            [("user", ["Hi"])],
            id="so is one without content",
        ),
        pytest.param(
            [
                user("Hi"),
                assistant([{"type": "refusal", "refusal": ""}]),
                {"type": "reasoning", "summary": []},
                assistant([{"type": "refusal", "refusal": "No"}]),
            ],
            [("user", ["Hi"]), ("assistant", [Refusal("No")])],
            id="and an empty refusal or thought",
        ),
        pytest.param(
            [user(""), user([])],
            [("user", [""])],
            id="an empty user message stays, one of no parts is nothing",
        ),
        pytest.param(
            [call("a"), user("Never mind")],
            [("assistant", [A]), ("tool", [MISSING]), ("user", ["Never mind"])],
            id="a missing output is made up",
        ),
        pytest.param(
            [call("a"), output("a"), call("a"), output("a", "rain")],
            [
                ("assistant", [A]),
                ("tool", [result("a")]),
                ("assistant", [called("a_2")]),
                ("tool", [result("a_2", "rain")]),
            ],
            id="a call id used again",
        ),
        pytest.param(
            [call("a"), user("Again"), call("a"), output("a", "rain")],
            [
                ("assistant", [A]),
                ("tool", [MISSING]),
                ("user", ["Again"]),
                ("assistant", [called("a_2")]),
                ("tool", [result("a_2", "rain")]),
            ],
            id="an output belongs to the newest turn that waits for it",
        ),
        pytest.param(
            [call("a"), call("a"), output("a", "one"), output("a", "two")],
            [
                ("assistant", [A, called("a_2")]),
                ("tool", [result("a", "one"), result("a_2", "two")]),
            ],
            id="parallel calls with one id are answered in order",
        ),
        pytest.param(
            [call("a"), call("a"), call("a_2"), call("a"), *[output("a")] * 3, output("a_2")],
            [
                ("assistant", [A, called("a_3"), called("a_2"), called("a_4")]),
                ("tool", [result("a"), result("a_3"), result("a_2"), result("a_4")]),
            ],
            id="a made-up id is nobody else's",
        ),
        pytest.param(
            [call(""), output("")],
            [("assistant", [called("call_1")]), ("tool", [result("call_1")])],
            id="an empty id gets a name",
        ),
    ],
)
def test_the_canonical_order(items, expected):
    """A turn's calls are answered by the turn right after it, completely and in order, whether the log tells of them or
    not: without that most histories take a shorter way."""
    for details in (True, False):
        assert spoken(*turns(*items, ledger=Ledger(details=details))) == expected


def test_the_example_of_a_conversation_with_an_empty_assistant_message():
    """R03: the multi-turn body that the oldest clients of this API send."""
    items = [
        {"type": "message", "role": "user", "content": "What's the weather?"},
        {"type": "message", "role": "assistant", "content": ""},
        call("call_xyz", "get_weather", '{"location":"San Francisco"}'),
        output("call_xyz", '{"temp":72,"condition":"sunny"}'),
    ]
    assert spoken(*turns(*items)) == [
        ("user", ["What's the weather?"]),
        ("assistant", [called("call_xyz", "get_weather", '{"location":"San Francisco"}')]),
        ("tool", [result("call_xyz", '{"temp":72,"condition":"sunny"}')]),
    ]


def test_what_was_mended_is_counted():
    """Nothing is mended silently."""
    ledger = Ledger()
    turns(call("a"), output("a"), call("a"), ledger=ledger)
    assert ledger.oddities == {"call_id_replaced": 1, "missing_output": 1}
    assert not ledger.dropped


@table(
    ("items", "param", "code", "message"),
    [
        (
            [user("Hi"), output("zzz")],
            "input",
            None,
            "No tool call found for function call output with call_id zzz.",
        ),
        (
            [call("a"), output("a"), user("Hi"), output("a")],
            "input[3].call_id",
            "invalid_value",
            "The function call with call_id a at input[3].call_id already has its output: leave one out.",
        ),
    ],
)
def test_an_output_without_a_call_is_the_clients_mistake(items, param, code, message):
    """G10: only backends that check would notice, and their message would name our ids."""
    fault = refused(input=items)
    assert (fault.param, fault.message, fault.status, fault.code) == (param, message, 400, code)


def test_an_output_without_a_call_is_dropped_for_clients_that_are_known_for_it():
    """G10: Codex cuts its history in the middle of a pair; what stood around it is adjacent then."""
    ledger = Ledger()
    said = turns(assistant("One"), output("gone"), assistant("Two"), ledger=ledger, orphan_outputs="drop")
    assert spoken(*said) == [("assistant", [Text("One"), Text("Two")])]
    assert ledger.dropped == {"orphan_output": 1}


def test_calls_and_outputs_are_told_at_debug():
    """R11: one line for each, with sizes in bytes and no content."""
    notes = Notes()
    turns(call("a"), output("a", "süß"), call("a"), output("a", "ok"), ledger=Ledger(notes))
    assert notes.lines == [
        ("debug", "input_call", {"name": "weather", "call_id": "a"}),
        ("debug", "input_output", {"call_id": "a", "bytes": 5}),
        ("debug", "input_call", {"name": "weather", "call_id": "a_2"}),
        ("debug", "input_output", {"call_id": "a_2", "bytes": 2}),
    ]


@table(
    ("part", "size"),
    [
        ("\ud800", 1),
        (Image("data:,x"), 7),
        (Audio("AAAA", "wav"), 4),
        (File(data="data:,xy"), 8),
        (File(url="https://x"), 9),
        (File(id="file_1"), 6),
        (File(), 0),
    ],
)
def test_every_kind_of_output_has_a_size(part, size):
    """R11; a half character must not raise there."""
    notes = Notes()
    said = [(Role.ASSISTANT, [called("a")]), (Role.TOOL, [Result("a", [part])])]
    canonical(said, Ledger(notes))
    assert notes.lines[-1] == ("debug", "input_output", {"call_id": "a", "bytes": size})


def test_the_clients_turns_are_left_as_they_are():
    """Objects are read-only by rule: a renamed call is another call."""
    repeated = called("a")
    said = [(Role.ASSISTANT, [called("a"), repeated])]
    canonical(said, Ledger())
    assert repeated.call_id == "a"
    assert said[0][1] == [called("a"), called("a")]


def test_neighbouring_turns_are_joined_in_a_list_of_their_own():
    said = [
        (Role.ASSISTANT, [Text("I look.")]),
        (Role.ASSISTANT, [A]),
        (Role.TOOL, [result("a")]),
    ]
    joined = [(Role.ASSISTANT, [Text("I look."), A]), (Role.TOOL, [result("a")])]
    assert canonical(said, Ledger(details=False)) == joined
    assert [parts for _, parts in said] == [[Text("I look.")], [A], [result("a")]]


def test_only_results_count_in_a_turn_of_results():
    """A stray text among them has no place in any backend's order."""
    said = [(Role.ASSISTANT, [called("a")]), (Role.TOOL, [Text("?"), result("a")])]
    assert canonical(said, Ledger())[1] == (Role.TOOL, [result("a")])


def test_a_thought_without_words_counts_as_something_said():
    """Encrypted reasoning has no text here, but it must go back where it came from."""
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ENC"},
        call("a"),
        output("a"),
    ]
    thought, *_ = turns(*items)[0][1]
    assert thought == Reasoning("", {"responses": {"encrypted_content": "ENC"}})


def test_a_custom_call_is_answered_like_any_other():
    """R10: both kinds share one order."""
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "exec", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "README"},
    ]
    assistant_turn, tool_turn = turns(*items)
    assert (assistant_turn[1][0].kind, assistant_turn[1][0].tool) == (ToolKind.CUSTOM, ToolName("exec"))
    assert tool_turn[1] == [result("c", "README")]


def test_who_says_nothing_has_no_turn():
    said = [(Role.USER, []), (Role.USER, ["Go on."])]
    assert canonical(said, Ledger()) == [(Role.USER, ["Go on."])]
    answered = canonical([(Role.ASSISTANT, [Text("Yes.")]), *said], Ledger())
    assert answered == [(Role.ASSISTANT, [Text("Yes.")]), (Role.USER, ["Go on."])]


def test_calls_of_one_id_in_one_turn_are_answered_in_their_order():
    calls = [called("a"), called("a"), called("a")]
    results = [result("a", words) for words in ("first", "second", "third")]
    _, answers = canonical([(Role.ASSISTANT, calls), (Role.TOOL, results)], Ledger())
    assert [part.content for part in answers[1]] == [part.content for part in results]


def test_a_refused_orphan_is_a_client_fault_for_callers_without_a_surface():
    """It tells of the place among the messages."""
    with pytest.raises(ClientFault) as caught:
        canonical([(Role.TOOL, [result("x")])], Ledger())
    assert caught.value.param == "messages"
    assert "messages[0]" in caught.value.message


ASYNC = {"type": "function", "name": "weather", "async": True}
PENDING = Result("a", [PENDING_RESULT])
WORDS = "The result of the call a of weather:"


@table(
    ("items", "expected"),
    [
        pytest.param(
            [user("Hi"), call("a"), assistant("I have begun."), user("And?")],
            [
                ("user", ["Hi"]),
                ("assistant", [A, Text("I have begun.")]),
                ("tool", [PENDING]),
                ("user", ["And?"]),
            ],
            id="still at work",
        ),
        pytest.param(
            [call("a"), assistant("I have begun."), output("a")],
            [("assistant", [A, Text("I have begun.")]), ("tool", [result("a")])],
            id="in the next turn, as of any other tool",
        ),
        pytest.param(
            [call("a"), user("And?"), assistant("Wait."), output("a")],
            [
                ("assistant", [A]),
                ("tool", [PENDING]),
                ("user", ["And?"]),
                ("assistant", [Text("Wait.")]),
                ("user", [WORDS, *result("a").content]),
            ],
            id="behind what was said meanwhile",
        ),
        pytest.param(
            [call("a"), user("And?"), call("b"), output("a"), output("b"), user("Now?")],
            [
                ("assistant", [A]),
                ("tool", [PENDING]),
                ("user", ["And?"]),
                ("assistant", [B]),
                ("tool", [result("b")]),
                ("user", [WORDS, *result("a").content]),
                ("user", ["Now?"]),
            ],
            id="together with the results of a later turn",
        ),
        pytest.param(
            [output("a"), call("a"), user("And?")],
            [("assistant", [A]), ("tool", [result("a")]), ("user", ["And?"])],
            id="before its call",
        ),
    ],
)
def test_the_result_of_a_tool_that_nobody_waits_for_stays_where_it_came(items, expected):
    """The model has gone on without it, and must neither take it for lost, nor read of it where it did not know it."""
    ledger = Ledger()
    assert spoken(*ask(ledger, input=items, tools=[ASYNC]).turns) == expected
    assert "missing_output" not in ledger.oddities


def test_a_pending_result_is_counted_and_no_reason_for_a_warning():
    ledger = Ledger()
    ask(ledger, input=[call("a"), user("And?")], tools=[ASYNC])
    assert (ledger.oddities, ledger.warnings) == ({"output_pending": 1}, [])
