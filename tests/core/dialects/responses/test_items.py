"""Turns to input items: any history, with its thoughts in their places and an answer wanted last."""

from typing import Any

import pytest

from proxy.core.dialects.writing.call_arguments import RAW
from proxy.core.dialects.writing.notes import CONTINUE, MOVED
from proxy.core.ledger import Ledger
from proxy.core.model import (
    HostedItem,
    Image,
    Reasoning,
    Refusal,
    Result,
    Text,
    ToolKind,
    Turn,
)
from proxy.core.model import Role as R
from proxy.core.profile import BackendProfile
from tests.support.chat_requests import assistant, call, developer, result, system, tool, user
from tests.support.responses_requests import (
    OPENAI,
    Json,
    body_of,
    items_of,
    local,
    openai,
    sealed,
    sealed_item,
    tool_spec,
)
from tests.support.tables import table

LINK = Image("https://x.example/a.png")
THOUGHT = Reasoning("Hm")
ASKED = {"type": "message", "role": "user", "content": "Hi"}


def said(item: Json) -> tuple[str, Any]:
    return item["role"], item["content"]


def called(arguments: str = "{}", call_id: str = "c1", name: str = "f") -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def returned(output: Any = "ok", call_id: str = "c1") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def thought(text: str = "Hm") -> Json:
    return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": text}]}


@table(
    ("turns", "on", "instructions", "items"),
    [
        pytest.param([user("a")], OPENAI, None, [("user", "a")], id="one message"),
        pytest.param(
            [system("a"), developer("b"), user("c")],
            OPENAI,
            "a\n\nb",
            [("user", "c")],
            id="what opens the conversation is its instructions",
        ),
        pytest.param(
            [system("a"), user("b"), developer("c"), user("d")],
            OPENAI,
            "a",
            [("user", "b"), ("developer", "c"), ("user", "d")],
            id="later instructions stay where they are",
        ),
        pytest.param(
            [user("b"), developer("c")],
            openai(late_system="merge"),
            "c",
            [("user", "b")],
            id="or go to the others",
        ),
        pytest.param(
            [user("b"), developer("c"), user("d")],
            local(),
            None,
            [("user", "b\n\n<system>\nc\n</system>\n\nd")],
            id="or are said by the user",
        ),
        pytest.param(
            [user("a"), user("b")],
            openai(join_users=False),
            None,
            [("user", "a"), ("user", "b")],
            id="users apart",
        ),
        pytest.param(
            [assistant("a"), user("b")],
            OPENAI,
            None,
            [("user", CONTINUE), ("assistant", "a"), ("user", "b")],
            id="a user speaks first",
        ),
        pytest.param(
            [user("a"), assistant("b", Refusal("c"))],
            OPENAI,
            None,
            [("user", "a"), ("assistant", "b\n\nc"), ("user", CONTINUE)],
            id="a user speaks last",
        ),
        pytest.param([system(""), user("a")], OPENAI, None, [("user", "a")], id="no empty instructions"),
        pytest.param(
            [user("a"), user(""), assistant("", "b"), user("c")],
            OPENAI,
            None,
            [("user", "a"), ("assistant", "b"), ("user", "c")],
            id="no empty messages",
        ),
        pytest.param(
            [assistant("", THOUGHT), user("a"), assistant("")],
            OPENAI,
            None,
            [("user", "a")],
            id="who says nothing has not spoken",
        ),
    ],
)
def test_messages(
    turns: list[Turn], on: BackendProfile, instructions: str | None, items: list[tuple[str, Any]]
) -> None:
    body = body_of(*turns, on=on)
    assert body.get("instructions") == instructions
    assert [said(item) for item in body["input"]] == items


def test_content_that_is_no_text() -> None:
    (item,) = items_of(user("Look:", LINK))
    assert item["content"] == [
        {"type": "input_text", "text": "Look:"},
        {"type": "input_image", "image_url": LINK.url, "detail": "auto"},
    ]


def test_calls_and_results_are_items_in_their_order() -> None:
    history = [
        user("Hi"),
        assistant("I look.", call(), "Well.", call("c2", "g", '{"a":1}')),
        tool(result("c1", "ok", "more"), result("c2")),
    ]
    assert items_of(*history, tools=[tool_spec("f"), tool_spec("g")]) == [
        ASKED,
        {"type": "message", "role": "assistant", "content": "I look."},
        called(),
        {"type": "message", "role": "assistant", "content": "Well."},
        called('{"a":1}', "c2", "g"),
        returned("ok\nmore"),
        returned("", "c2"),
    ]


def test_arguments_that_are_no_object_are_wrapped() -> None:
    history = [user("Hi"), assistant(call(arguments="[1")), tool(result("c1", "ok"))]
    assert items_of(*history)[1] == called('{"%s":"[1"}' % RAW)  # noqa: UP031


def test_a_custom_tool_is_a_function_where_the_backend_has_no_other() -> None:
    history = [user("Hi"), assistant(call(arguments="ls", kind=ToolKind.CUSTOM)), tool(result("c1", "ok"))]
    assert items_of(*history)[1] == called('{"input":"ls"}')


def test_call_ids_have_the_form_that_the_backend_takes() -> None:
    long = "c" * 80
    items = items_of(user("Hi"), assistant(call(long)), tool(result(long, "ok")))
    assert items[1]["call_id"] == items[2]["call_id"] != long
    assert len(items[1]["call_id"]) <= 40


def test_words_between_a_result_and_the_user() -> None:
    history = [user("Hi"), assistant(call()), tool(result("c1", "ok")), user("And?")]
    items = items_of(*history, on=local(after_tool="Done."))
    assert [said(item) for item in items if item["type"] == "message"] == [
        ("user", "Hi"),
        ("assistant", "Done."),
        ("user", "And?"),
    ]


# ── thoughts ──


def test_sealed_thoughts_go_back_where_they_stood() -> None:
    history = [
        user("Hi"),
        assistant(sealed("a"), "I look.", sealed("b"), call()),
        tool(result("c1", "ok")),
    ]
    assert items_of(*history) == [
        ASKED,
        sealed_item("a"),
        {"type": "message", "role": "assistant", "content": "I look."},
        sealed_item("b"),
        called(),
        returned(),
    ]


@table(
    ("parts", "on", "items", "dropped"),
    [
        ([THOUGHT, "a"], OPENAI, ["message"], 1),
        ([sealed(model="other", text="Hm"), "a"], OPENAI, ["message"], 1),
        ([sealed(model="other", text="Hm"), sealed(), "a"], OPENAI, ["reasoning", "message"], 1),
        ([sealed()], OPENAI, [], 1),
        ([THOUGHT, "a"], local(), ["reasoning", "message"], 0),
        ([Reasoning(" "), "a"], local(), ["message"], 1),
        ([THOUGHT, "a"], local(replay_scope="calls"), ["message"], 1),
        ([THOUGHT, call()], local(replay_scope="calls"), ["reasoning", "function_call"], 0),
        (["a"], local(replay_blank=" "), ["reasoning", "message"], 0),
        ([THOUGHT, "a"], local(replay_blank=" "), ["reasoning", "message"], 0),
        (["a"], local(replay_blank=" ", replay_scope="calls"), ["message"], 0),
    ],
)
def test_which_thoughts_go_back(parts: Any, on: BackendProfile, items: list[str], dropped: int) -> None:
    ledger = Ledger()
    history = [user("Hi"), assistant(*parts)]
    if any(not isinstance(part, str) and hasattr(part, "call_id") for part in parts):
        history.append(tool(result("c1", "ok")))
    written = items_of(*history, on=on, ledger=ledger)[1:]
    assert [
        item["type"] for item in written if item not in (returned(),) and item.get("role") != "user"
    ] == items
    assert ledger.dropped.get("reasoning", 0) == dropped


def test_thoughts_in_plain_words() -> None:
    assert items_of(user("Hi"), assistant(THOUGHT, "a"), user("b"), on=local())[1] == thought()


# ── results ──


def test_a_result_that_is_no_text() -> None:
    """It stands in the result where the backend takes that; elsewhere the user shows it."""
    history = [user("Hi"), assistant(call()), tool(result("c1", "Look:", LINK))]
    image = {"type": "input_image", "image_url": LINK.url, "detail": "auto"}
    words = {"type": "input_text", "text": "Look:"}
    assert items_of(*history, on=openai(media_results=True))[2] == returned([words, image])
    moved = items_of(*history, on=local(images="any"))
    assert moved[2] == returned(f"Look:\n{MOVED}")
    assert moved[3]["content"] == [{"type": "input_text", "text": "[returned by f]"}, image]


@table(
    ("content", "output"),
    [
        (["no such file"], "Error:\nno such file"),
        (["error: none"], "error: none"),
        ([], "Error:"),
        ([LINK], None),
    ],
)
def test_a_failure_says_so(content: list[Any], output: str | None) -> None:
    failed = Result("c1", content, is_error=True)
    item = items_of(user("Hi"), assistant(call()), tool(failed), on=openai(media_results=False))[2]
    assert item["output"] == (output or f"Error:\n{MOVED}")


def test_calls_told_as_text() -> None:
    history = [user("Hi"), assistant("I look.", call()), tool(result("c1", "ok"))]
    items = items_of(*history, on=local(orphan_tools="flatten"))
    assert [said(item) for item in items] == [
        ("user", "Hi"),
        ("assistant", "I look.\n\n[called f: {}]"),
        ("user", "[returned by f]\nok"),
    ]


def test_parts_in_the_wrong_place_are_left_out() -> None:
    ledger = Ledger()
    history = [
        (R.USER, ["Hi", THOUGHT]),
        (R.ASSISTANT, [Text("a"), LINK]),
        (R.ASSISTANT, [LINK]),
        (R.TOOL, [Text("b")]),
    ]
    assert [said(item) for item in items_of(*history, ledger=ledger)] == [
        ("user", "Hi"),
        ("assistant", "a"),
        ("user", CONTINUE),
    ]
    assert ledger.dropped == {"misplaced_part": 3}


def test_what_hosted_tools_did_goes_back_to_who_has_them() -> None:
    search = HostedItem({"type": "web_search_call", "id": "ws_1", "status": "completed"})
    ask = HostedItem({"type": "mcp_approval_request", "id": "mcpr_1"})
    answer = HostedItem({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True})
    history = [user("Hi"), assistant(search, "So.", ask), user(answer)]
    assert items_of(*history) == [
        ASKED,
        search.item,
        {"type": "message", "role": "assistant", "content": "So."},
        ask.item,
        answer.item,
    ]
    ledger = Ledger()
    bare = items_of(*history, on=openai(hosted_tools=frozenset()), ledger=ledger)
    assert [said(item) for item in bare] == [("user", "Hi"), ("assistant", "So."), ("user", CONTINUE)]
    assert ledger.dropped == {"hosted_item": 3}


def test_the_phase_of_a_message_goes_back() -> None:
    final = [Text(word, phase="final_answer") for word in ("It", "!")]
    history = [
        user("Hi"),
        assistant(Text("I look.", phase="commentary"), *final),
        user("Thanks."),
    ]
    assert items_of(*history)[1:3] == [
        {"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"},
        {"type": "message", "role": "assistant", "content": "It\n\n!", "phase": "final_answer"},
    ]


def test_what_was_sealed_stays_out_where_it_was_refused() -> None:
    ledger = Ledger()
    (asked, said_) = items_of(
        user("Hi"), assistant(sealed(), "a"), user("b"), on=openai(sealed_back=False), ledger=ledger
    )[:2]
    assert [asked["role"], said_["role"]] == ["user", "assistant"]
    assert ledger.dropped == {"reasoning": 1}


def test_what_was_sealed_returns_to_the_backend_that_it_is_from() -> None:
    """Of what was sealed by an older version only the model is known."""
    for maker, back in (("main/gpt-5.6", 1), ("gpt-5.6", 1), ("other/gpt-5.6", 0), ("main/gpt-5.5", 0)):
        items = items_of(user("Hi"), assistant(sealed(model=maker), "a"), user("b"), model="main/gpt-5.6")
        assert sum(item["type"] == "reasoning" for item in items) == back
