"""The one order that the Messages API accepts; every conversation goes through the strict server's rules."""

from itertools import pairwise

from proxy.core.dialects.writing.notes import MOVED_BEHIND
from proxy.core.ledger import Ledger
from proxy.core.model import Image, ReasoningWish, Refusal, Result, Role, ToolKind, ToolName, ToolSpec
from proxy.core.surfaces.reading.history import canonical
from tests.support.anthropic_requests import (
    SIGNATURE,
    body_of,
    messages_of,
    on,
    reasoning,
    said,
    sent,
    thought,
)
from tests.support.chat_requests import assistant, call, developer, result, system, tool, user
from tests.support.tables import table

PNG = "data:image/png;base64,iVBORw0KGgo="
PNG_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
OLDER = "claude-sonnet-5"
BUDGETED = "claude-sonnet-4-5"


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def use(call_id: str = "c1", name: str = "f", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def answer(call_id: str = "c1", content: object = "ok", **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


# ── instructions ──


def test_leading_instructions_are_blocks_of_their_own_in_order() -> None:
    body = body_of(system("One"), developer("Two"), user("Hi"))
    assert body["system"] == [words("One"), words("Two")]
    assert body["messages"] == [said("Hi")]


def test_no_instructions_no_field() -> None:
    assert "system" not in body_of(system("  "), user("Hi"))


def test_a_later_instruction_stays_where_it_is() -> None:
    """It is never hoisted into the prefix that older thoughts are bound to."""
    body = body_of(system("S"), user("A"), developer("B"), assistant("C"), user("D"), developer("E"))
    assert body["system"] == [words("S")]
    assert body["messages"] == [
        said("A"),
        said("B", "system"),
        said("C", "assistant"),
        said("D"),
        said("E", "system"),
    ]


@table(
    ("turns", "how"),
    [
        ((user("A"), developer("B"), user("C")), {}),
        ((user("A"), developer("B"), user("C")), {"model": OLDER}),
        ((user("A"), developer("B"), user("C")), {"profile": on(late_system="user")}),
    ],
)
def test_where_no_instruction_may_stand_the_user_says_it(turns: tuple, how: dict) -> None:
    blocks = [words("A"), words("<system>\nB\n</system>"), words("C")]
    assert messages_of(*turns, **how) == [{"role": "user", "content": blocks}]


def test_an_instruction_after_an_answer_is_the_users() -> None:
    messages = messages_of(user("A"), assistant("B"), developer("C"), developer("D"))
    blocks = [words("<system>\nC\n</system>"), words("<system>\nD\n</system>")]
    assert messages[2:] == [{"role": "user", "content": blocks}]


@table(("model", "role"), [("claude-opus-5-5", "system"), ("claude-haiku-5-5", "user")])
def test_an_instruction_after_results(model: str, role: str) -> None:
    """Haiku 5.5 takes one only after text."""
    turns = (user("A"), assistant(call()), tool(result("c1", "ok")), developer("B"))
    assert messages_of(*turns, model=model)[-1]["role"] == role
    assert messages_of(user("A"), developer("B"), model=model)[-1]["role"] == "system"


def test_an_instruction_that_is_no_text_is_none() -> None:
    ledger = Ledger()
    turn = (Role.DEVELOPER, [Image(PNG), Refusal("No.")])
    assert messages_of(user("A"), turn, ledger=ledger) == [said("A")]
    assert ledger.dropped == {"misplaced_part": 1}


# ── turns ──


def test_neighbours_are_one_message() -> None:
    """Compatible servers insist on turns."""
    messages = messages_of(user("A"), user("B"), assistant("C"), assistant("D"), user("E"))
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"] == [words("A"), words("B")]
    assert messages[1]["content"] == [words("C"), words("D")]


def test_a_user_begins_and_ends() -> None:
    """A history that begins with the model, and one that ends with it."""
    assert messages_of(assistant("A")) == [said("Continue."), said("A", "assistant"), said("Continue.")]
    assert messages_of(user(" ")) == [said("Continue.")]
    assert messages_of(system("S")) == [said("Continue.")]


def test_text_without_a_visible_character_is_left_out() -> None:
    """Also beside a call."""
    messages = messages_of(user("A", "\n"), assistant("", " ", call()), tool(result("c1", "ok", "")))
    assert messages[0]["content"] == [words("A")]
    assert messages[1]["content"] == [use()]
    assert messages[2]["content"] == [answer()]


def test_a_refusal_is_text() -> None:
    assert messages_of(user("A"), assistant(Refusal("No.")), user("B"))[1] == said("No.", "assistant")


def test_what_is_misplaced_is_counted() -> None:
    ledger = Ledger()
    wrong_user = user("A", Refusal("x"))
    wrong_assistant = assistant("B", Image(PNG))
    wrong_tool = tool("C")
    messages_of(wrong_user, wrong_assistant, wrong_tool, ledger=ledger)
    assert ledger.dropped == {"misplaced_part": 3}


# ── calls and results ──


def test_all_results_of_a_turn_are_in_one_message() -> None:
    """Separate messages teach the model to call one tool at a time."""
    turns = (
        user("A"),
        assistant("B", call("c1"), call("c2", "g")),
        tool(result("c1", "one"), result("c2", "two")),
        user("C"),
    )
    messages = messages_of(*turns)
    assert messages[1]["content"] == [words("B"), use(), use("c2", "g")]
    assert messages[2]["content"] == [answer("c1", "one"), answer("c2", "two"), words("C")]
    assert len(messages) == 3


def test_arguments_keep_the_models_own_bytes() -> None:
    """Order, numbers and spelling."""
    text = sent(user("A"), assistant(call(arguments='{"z": 1.0, "a": "\\u00e9"}')), tool(result("c1", "ok")))
    assert '"input":{"z": 1.0, "a": "\\u00e9"}' in text


def test_the_arguments_of_a_custom_tool_are_an_object() -> None:
    turns = (user("A"), assistant(call(arguments="x = 1", kind=ToolKind.CUSTOM)), tool(result("c1", "ok")))
    assert messages_of(*turns)[1]["content"] == [use(input="x = 1")]


def test_foreign_call_ids_are_made_fit_on_both_sides() -> None:
    """One to one, and the same in every request."""
    ids = ["functions.x:0", "functions.x_0", "functions_x_0", "é" * 70]
    turns = (user("A"), assistant(*(call(each) for each in ids)), tool(*(result(each, each) for each in ids)))
    calls, answers = (message["content"] for message in messages_of(*turns)[1:])
    made = [block["id"] for block in calls]
    assert len(set(made)) == len(ids)
    assert made[2] == "functions_x_0"
    assert [(block["tool_use_id"], block["content"]) for block in answers] == list(
        zip(made, ids, strict=True)
    )
    assert [block["id"] for block in messages_of(*turns)[1]["content"]] == made


@table(
    ("content", "expected"),
    [
        ((), ""),
        (('{"$ref": 1}',), '{"$ref": 1}'),
        (("a", "b"), [words("a"), words("b")]),
        ((Image(PNG),), [PNG_BLOCK]),
        (("a", Image(PNG)), [words("a"), PNG_BLOCK]),
    ],
)
def test_the_content_of_a_result(content: tuple, expected: object) -> None:
    """What is JSON stays the text it is."""
    turns = (user("A"), assistant(call()), tool(result("c1", *content)))
    assert messages_of(*turns)[2]["content"] == [answer("c1", expected)]


def test_an_error_says_so() -> None:
    turns = (user("A"), assistant(call()), tool(Result("c1", ["no"], is_error=True)))
    assert messages_of(*turns)[2]["content"] == [answer("c1", "no", is_error=True)]


def test_v43_an_error_in_words_says_so_too() -> None:
    turns = (user("A"), assistant(call()), tool(result("c1", "Error: no")))
    assert messages_of(*turns)[2]["content"] == [answer("c1", "Error: no", is_error=True)]


def test_an_image_in_an_error_goes_after_all_results() -> None:
    """What failed may say so in words only."""
    failed = Result("c1", ["no", Image(PNG)], is_error=True)
    turns = (user("A"), assistant(call("c1"), call("c2")), tool(failed, result("c2", "ok")))
    assert messages_of(*turns)[2]["content"] == [
        answer("c1", [words("no"), words(MOVED_BEHIND)], is_error=True),
        answer("c2"),
        words("[returned by f]"),
        PNG_BLOCK,
    ]


def test_a_history_with_calls_in_a_request_without_tools() -> None:
    turns = (user("A"), assistant(call()), tool(result("c1", "ok")))
    assert "tools" not in body_of(*turns)
    assert body_of(*turns, profile=on(orphan_tools="declare"))["tools"][0]["name"] == "_noop"
    assert "tools" not in body_of(user("A"), profile=on(orphan_tools="declare"))


def test_orphans_doubles_and_gaps_are_settled_before() -> None:
    """Whatever a client's history lacks, each call has one result, right after it."""
    history = [
        user("A"),
        assistant(call("c1"), call("c2"), call("c1", "g")),
        user("B"),
        tool(result("c2", "two"), result("c9", "nobody's")),
    ]
    turns = canonical(history, Ledger(), "drop")
    messages = messages_of(*turns)
    assert [block["id"] for block in messages[1]["content"]] == ["c1", "c2", "c1_2"]
    assert [block.get("content") for block in messages[2]["content"]] == ["aborted", "two", "aborted", None]
    assert [block.get("is_error") for block in messages[2]["content"]] == [True, None, True, None]


# ── thoughts ──


def test_thoughts_return_in_place_and_order() -> None:
    """Byte for byte, whatever fields they have, and also if they have no words."""
    hidden = {"type": "redacted_thinking", "data": "RU5D"}
    turns = (
        user("A"),
        assistant(
            reasoning(thought("One"), hidden),
            call("c1"),
            reasoning(thought("")),
            call("c2"),
            reasoning(),
            "B",
        ),
        tool(result("c1", "ok"), result("c2", "ok")),
    )
    blocks = messages_of(*turns)[1]["content"]
    assert blocks == [thought("One"), hidden, use("c1"), thought(""), use("c2"), thought(), words("B")]
    assert f'{{"type":"thinking","thinking":"One","signature":"{SIGNATURE}"}}' in sent(*turns)


@table(
    ("part", "how"),
    [
        (reasoning(model="claude-opus-5"), {}),
        (reasoning(), {"profile": on(replay="none")}),
        (reasoning(), {"model": "claude-sonnet-5"}),
    ],
)
def test_thoughts_that_would_be_refused_stay_here(part: object, how: dict) -> None:
    """Another model's; and all of them, where a refusal taught so."""
    ledger = Ledger()
    assert messages_of(user("A"), assistant(part, "B"), user("C"), ledger=ledger, **how)[1] == said(
        "B", "assistant"
    )
    assert ledger.dropped == {"reasoning": 1}


@table(
    ("turns", "thinking"),
    [
        ((user("A"), assistant(call()), tool(result("c1", "ok"))), "disabled"),
        (
            (user("A"), assistant("B", reasoning(model=BUDGETED), call()), tool(result("c1", "ok"))),
            "disabled",
        ),
        ((user("A"), assistant(reasoning(model=BUDGETED), call()), tool(result("c1", "ok"))), "enabled"),
        ((user("A"), assistant(call()), tool(result("c1", "ok")), assistant("B"), user("C")), "enabled"),
        ((user("A"), assistant("B"), user("C")), "enabled"),
        ((user("A"),), "enabled"),
    ],
)
def test_a_tool_loop_that_lost_its_thoughts_goes_on_without_thinking(turns: tuple, thinking: str) -> None:
    """As long as the loop runs, for models that think by a budget."""
    body = body_of(*turns, model=BUDGETED, reasoning=ReasoningWish("low"))
    assert body["thinking"]["type"] == thinking


def test_words_without_a_proof_stay_here() -> None:
    ledger = Ledger()
    bare = reasoning()
    bare.extras = {"google": {}}
    assert messages_of(user("A"), assistant(bare, "B"), user("C"), ledger=ledger)[1] == said("B", "assistant")
    assert ledger.dropped == {"reasoning": 1}


def test_a_thought_with_nothing_after_it_stays_here() -> None:
    ledger = Ledger()
    assert messages_of(user("A"), assistant("B", reasoning()), user("C"), ledger=ledger)[1] == said(
        "B", "assistant"
    )
    assert messages_of(user("A"), assistant(reasoning()), user("C")) == [
        {"role": "user", "content": [words("A"), words("C")]}
    ]
    assert ledger.dropped == {"reasoning": 1}


def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter() -> None:
    """The newest models refuse a thought when one byte before it has changed."""
    turns = [
        system("S"),
        user("A"),
        developer("B"),
        assistant(reasoning(), "C", call("x.1", arguments='{"b": 1,  "a": 2}')),
        tool(result("x.1", "one")),
        assistant(reasoning(), call("c2")),
        tool(Result("c2", ["no", Image(PNG)], is_error=True)),
        user("D"),
        assistant(reasoning(), "E"),
        user("F"),
    ]
    ends = [3, 5, 7, 8, 10]
    texts = [sent(*turns[:end]).partition('"messages":[')[2].partition('],"thinking"')[0] for end in ends]
    for shorter, longer in pairwise(texts):
        assert longer.startswith(shorter.removesuffix("]}"))


def test_earlier_calls_name_properties_as_the_tools_do() -> None:
    """The numbers in them stay as they were written: thoughts are proven by every byte before."""
    spec = ToolSpec(ToolName("f"), parameters={"type": "object", "properties": {"$top": {"type": "number"}}})
    body = body_of(user("A"), assistant(call(arguments='{"$top": 1.0}')), tool(result()), tools=[spec])
    (alias,) = body["tools"][0]["input_schema"]["properties"]
    assert body["messages"][1]["content"][0]["input"] == {alias: 1.0}
    text = sent(user("A"), assistant(call(arguments='{"$top": 1.0}')), tool(result()), tools=[spec])
    assert f'{{"{alias}": 1.0}}' in text
