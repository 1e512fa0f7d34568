"""G2, G8 to G12 and the profile fields about messages: any history in the one order that every backend takes."""

from typing import Any

import pytest

from proxy.core.dialects.writing.notes import CONTINUE
from proxy.core.extras import field_extras
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Audio,
    Extras,
    File,
    Image,
    Reasoning,
    Refusal,
    Result,
    Role,
    Text,
    ToolKind,
    Turn,
)
from proxy.core.profile import DEFAULT, BackendProfile
from tests.support.chat_requests import (
    assistant,
    call,
    developer,
    messages_of,
    profile,
    result,
    system,
    tool,
    user,
)
from tests.support.tables import table

DATA_IMAGE = Image("data:image/png;base64,AAAA")
LINK = Image("https://x.example/a.png")
THOUGHT = Reasoning("hm")
DETAIL = {"type": "reasoning.encrypted", "data": "abc", "format": None}
SEALED = Reasoning("", {"chat": {"reasoning_details": [DETAIL]}})


def said(message: dict[str, Any]) -> tuple[str, Any]:
    return message["role"], message["content"]


@table(
    ("turns", "on", "expected"),
    [
        pytest.param(
            [system("a"), developer("b"), user("c")],
            DEFAULT,
            [("system", "a\n\nb"), ("user", "c")],
            id="G12 one system message, first, a string",
        ),
        pytest.param(
            [system("a"), user("b"), developer("c"), user("d")],
            DEFAULT,
            [("system", "a"), ("user", "b\n\n<system>\nc\n</system>\n\nd")],
            id="G12 late instructions are user text",
        ),
        pytest.param(
            [system("a"), user("b"), developer("c"), user("d")],
            profile(late_system="merge"),
            [("system", "a\n\nc"), ("user", "b\n\nd")],
            id="late_system merge",
        ),
        pytest.param(
            [system("a"), user("b"), developer("c"), user("d")],
            profile(late_system="keep", system_role="developer"),
            [("developer", "a"), ("user", "b"), ("developer", "c"), ("user", "d")],
            id="late_system keep, system_role developer",
        ),
        pytest.param([system(""), user("b")], DEFAULT, [("user", "b")], id="empty instructions"),
        pytest.param([user("a"), user("b")], DEFAULT, [("user", "a\n\nb")], id="join_users"),
        pytest.param(
            [user("a"), user("b")],
            profile(join_users=False),
            [("user", "a"), ("user", "b")],
            id="join_users off",
        ),
        pytest.param([user("a", "b")], DEFAULT, [("user", "a\nb")], id="text parts are one string"),
        pytest.param(
            [user("a"), assistant("b"), assistant("c"), user("d")],
            DEFAULT,
            [("user", "a"), ("assistant", "b\n\nc"), ("user", "d")],
            id="G11 assistant messages merge",
        ),
        pytest.param(
            [user("a"), assistant(), assistant(""), user("b")],
            DEFAULT,
            [("user", "a\n\nb")],
            id="G11, R03 an empty assistant message is harmless",
        ),
        pytest.param(
            [user("a"), assistant("b")],
            DEFAULT,
            [("user", "a"), ("assistant", "b"), ("user", CONTINUE)],
            id="G11 an answer at the end is no prefill",
        ),
        pytest.param(
            [system("a")], DEFAULT, [("system", "a"), ("user", CONTINUE)], id="G11 only instructions"
        ),
        pytest.param([user("")], DEFAULT, [("user", CONTINUE)], id="G11 nothing at all"),
        pytest.param(
            [assistant("a"), user("b")],
            DEFAULT,
            [("user", CONTINUE), ("assistant", "a"), ("user", "b")],
            id="templates want the user to begin",
        ),
        pytest.param(
            [user("a"), assistant(Refusal("No.")), user("b")],
            DEFAULT,
            [("user", "a"), ("assistant", "No."), ("user", "b")],
            id="a refusal is what was said",
        ),
        pytest.param(
            [user("a"), assistant(call()), tool(result("c1", "r")), user("b")],
            profile(after_tool="Done."),
            [("user", "a"), ("assistant", ""), ("tool", "r"), ("assistant", "Done."), ("user", "b")],
            id="after_tool",
        ),
        pytest.param(
            [user("a"), assistant(call()), tool(result("c1", "r")), assistant("b"), user("c")],
            profile(after_tool="Done."),
            [("user", "a"), ("assistant", ""), ("tool", "r"), ("assistant", "b"), ("user", "c")],
            id="after_tool only before a user",
        ),
    ],
)
def test_the_order_of_messages(
    turns: list[Turn], on: BackendProfile, expected: list[tuple[str, Any]]
) -> None:
    assert [said(message) for message in messages_of(*turns, on=on)] == expected


def test_calls_and_results_are_paired_and_adjacent() -> None:
    """G2, G10: closed message schemas take these fields and no others."""
    history = [
        user("a"),
        assistant("Looking.", call("c1", "f", '{"x": 1}'), call("c2", "g")),
        tool(result("c1", "one", "two"), result("c2")),
    ]
    assert messages_of(*history)[1:] == [
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "one\ntwo", "tool_call_id": "c1"},
        {"role": "tool", "content": "", "tool_call_id": "c2"},
    ]


def test_text_before_calls_of_the_next_assistant_turn_goes_with_them() -> None:
    messages = messages_of(user("a"), assistant("b", THOUGHT), assistant(call()), tool(result()))
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[1]["content"] == "b"
    assert messages[1]["tool_calls"]


def test_the_input_of_a_custom_tool_goes_back_as_it_was_asked_for() -> None:
    messages = messages_of(
        user("a"), assistant(call(arguments="raw\n", kind=ToolKind.CUSTOM)), tool(result())
    )
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == '{"input":"raw\\n"}'


@table(
    ("form", "upstream"),
    [("any", "a b"), ("len40", "call_"), ("alnum9", "")],
)
def test_call_ids_take_the_form_of_the_backend_in_call_and_result(form: str, upstream: str) -> None:
    """G10; the strict server checks the form."""
    messages = messages_of(user("a"), assistant(call("a b")), tool(result("a b")), on=profile(call_id=form))
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]
    assert messages[2]["tool_call_id"].startswith(upstream)


# ── images, sound and files ────────────────────────────────────────────────────────────────────────────────────


def test_images_stand_where_they_stood() -> None:
    content = messages_of(user("a", DATA_IMAGE, ""), user("b"))[0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[1] == {"type": "image_url", "image_url": {"url": DATA_IMAGE.url}}


@table("images", ["none", "data"])
def test_a_note_stands_for_an_image_that_may_not_pass(images: str) -> None:
    ledger = Ledger()
    (message,) = messages_of(user("a", LINK), on=profile(images=images), ledger=ledger)
    assert message["content"].startswith("a\n[image left out: ")
    assert ledger.dropped == {"image": 1}


@table(
    ("content", "told"),
    [
        (["no such file"], "Error:\nno such file"),
        (["Error: no such file"], "Error: no such file"),
        (["error 404"], "Error:\nerror 404"),
        ([], "Error:"),
    ],
)
def test_n05_a_tool_that_failed_says_so_in_its_words(content: list[Any], told: str) -> None:
    """There is no field for it."""
    failed = Result("c1", content, is_error=True)
    assert messages_of(user("q"), assistant(call()), tool(failed))[-1]["content"] == told


def test_images_of_a_tool_move_to_a_user_message_after_all_results() -> None:
    """G9: a list on a tool message loses its id in Ollama, and `tool` is text only on most hosts."""
    history = [
        user("a"),
        assistant(call("c1", "shot"), call("c2", "g")),
        tool(result("c1", "done", DATA_IMAGE), result("c2", "r")),
    ]
    _, _, first, second, moved = messages_of(*history)
    assert first["content"] == "done\n[more in the next message]"
    assert second["content"] == "r"
    assert moved == {
        "role": "user",
        "content": [
            {"type": "text", "text": "[returned by shot]"},
            {"type": "image_url", "image_url": {"url": DATA_IMAGE.url}},
        ],
    }


def test_images_of_a_tool_join_what_the_user_says_next_and_follow_after_tool() -> None:
    history = [user("a"), assistant(call()), tool(result("c1", DATA_IMAGE)), user("b")]
    messages = messages_of(*history, on=profile(after_tool="Done."))
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert [part["type"] for part in messages[-1]["content"]] == ["text", "image_url", "text"]


def test_a_tools_image_that_may_not_pass_is_told_in_its_result() -> None:
    history = [user("a"), assistant(call()), tool(result("c1", DATA_IMAGE))]
    messages = messages_of(*history, on=profile(images="none"))
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[-1]["content"].startswith("[image left out")


def test_parts_in_turns_where_they_mean_nothing_are_counted() -> None:
    ledger = Ledger()
    turns = [
        (Role.SYSTEM, ["s", call()]),
        (Role.USER, [result(), "a"]),
        (Role.ASSISTANT, [DATA_IMAGE, Text("b")]),
        (Role.TOOL, [Text("c")]),
        user(Audio("AAAA", "wav")),
    ]
    assert [message["role"] for message in messages_of(*turns, ledger=ledger)] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert ledger.dropped["misplaced_part"] == 4


def test_instructions_are_text_only() -> None:
    assert messages_of((Role.SYSTEM, ["s", DATA_IMAGE]), user("a"))[0]["content"] == "s"


# ── reasoning ──────────────────────────────────────────────────────────────────────────────────────────────────

HISTORY = [
    user("a"),
    assistant(THOUGHT, "b"),
    user("c"),
    assistant(Reasoning("one"), Reasoning(""), Reasoning("two"), call()),
    tool(result()),
]


@table(
    ("on", "of_text", "of_calls"),
    [
        (profile(), {}, {}),
        (profile(replay="reasoning_content"), {}, {"reasoning_content": "one\n\ntwo"}),
        (
            profile(replay="reasoning_content", replay_scope="all"),
            {"reasoning_content": "hm"},
            {"reasoning_content": "one\n\ntwo"},
        ),
        (profile(replay="reasoning"), {}, {"reasoning": "one\n\ntwo"}),
        (
            profile(replay="reasoning_details", replay_scope="all"),
            {"reasoning": "hm"},
            {"reasoning": "one\n\ntwo"},
        ),
        (
            profile(replay="think_tags", replay_scope="all"),
            {"content": "<think>\nhm\n</think>\n\nb"},
            {"content": "<think>\none\n\ntwo\n</think>\n\n"},
        ),
    ],
)
def test_reasoning_goes_back_in_the_backends_field_on_the_turns_of_its_scope(
    on: BackendProfile, of_text: dict[str, str], of_calls: dict[str, str]
) -> None:
    messages = messages_of(*HISTORY, on=on)
    assert {key: messages[1][key] for key in messages[1] if key != "role"} == {"content": "b", **of_text}
    call_message = {key: messages[3][key] for key in messages[3] if key not in ("role", "tool_calls")}
    assert call_message == {"content": "", **of_calls}


@table(
    ("on", "dropped"),
    [(profile(), 2), (profile(replay="reasoning"), 1), (profile(replay="reasoning", replay_scope="all"), 0)],
)
def test_reasoning_that_does_not_go_back_is_counted(on: BackendProfile, dropped: int) -> None:
    ledger = Ledger()
    messages_of(*HISTORY, on=on, ledger=ledger)
    assert ledger.dropped.get("reasoning", 0) == dropped


def test_reasoning_without_an_answer_is_dropped() -> None:
    """G11: a message of nothing else would be empty."""
    ledger = Ledger()
    on = profile(replay="reasoning", replay_scope="all")
    assert len(messages_of(user("a"), assistant(THOUGHT), user("b"), on=on, ledger=ledger)) == 1
    assert ledger.dropped == {"reasoning": 1}


def test_details_go_back_as_they_came_nulls_and_all() -> None:
    history = [user("a"), assistant(SEALED, THOUGHT, call()), tool(result())]
    message = messages_of(*history, on=profile(replay="reasoning_details"))[1]
    assert message["reasoning_details"] == [DETAIL]
    assert "reasoning" not in message


@table("extras", [{}, {"chat": {}}, {"chat": {"reasoning_details": "x"}}, {"responses": {"a": 1}}])
def test_what_another_dialect_keeps_with_the_reasoning_stays_there(extras: dict[str, Any]) -> None:
    history = [user("a"), assistant(Reasoning("", extras), call()), tool(result())]
    assert messages_of(*history, on=profile(replay="reasoning_details"))[1].keys() == {
        "role",
        "content",
        "tool_calls",
    }


@table(
    ("scope", "blanks"),
    [("calls", [False, True]), ("all", [True, True])],
)
def test_a_placeholder_stands_for_reasoning_that_was_lost(scope: str, blanks: list[bool]) -> None:
    history = [user("a"), assistant("b"), user("c"), assistant(call()), tool(result())]
    on = profile(replay="reasoning_content", replay_scope=scope, replay_blank=" ")
    messages = messages_of(*history, on=on)
    assert [messages[index].get("reasoning_content") == " " for index in (1, 3)] == blanks


def test_v32_a_blank_is_no_thought_beside_another() -> None:
    """What a client sends back of a thought stands for it, and a placeholder only where there is nothing."""
    on = profile(replay="reasoning_content", replay_blank="(lost)")
    for thoughts, told in (
        ([Reasoning("\n"), Reasoning("Hm.")], "Hm."),
        ([Reasoning(" ")], "(lost)"),
    ):
        history = [user("a"), assistant(*thoughts, call()), tool(result())]
        assert messages_of(*history, on=on)[1]["reasoning_content"] == told


# ── calls without tools ────────────────────────────────────────────────────────────────────────────────────────


def test_orphan_tools_flatten_tells_calls_and_results_as_text() -> None:
    history = [
        user("a"),
        assistant("b", call("c1", "f", '{"x": 1}')),
        tool(result("c1", "r", DATA_IMAGE)),
        (Role.TOOL, [Result("lost", ["q"])]),
    ]
    messages = messages_of(*history, on=profile(orphan_tools="flatten", images="none"))
    assert [said(message) for message in messages] == [
        ("user", "a"),
        ("assistant", 'b\n\n[called f: {"x": 1}]'),
        (
            "user",
            "[returned by f]\nr\n[image left out: this model reads text only]\n\n[returned by a tool]\nq",
        ),
    ]


def test_a_file_that_nobody_can_read_is_noted_in_a_result() -> None:
    history = [user("a"), assistant(call()), tool(result("c1", File(id="file_1")))]
    assert messages_of(*history)[-1]["content"] == "[file left out: this backend cannot read it]"


def test_many_messages_that_become_one_take_no_time() -> None:
    """Each joins what is there, and none is copied again for the next."""
    (message,) = messages_of(*[user("x" * 100) for _ in range(5_000)])
    assert len(message["content"]) == 5_000 * 102 - 2


def test_a_call_takes_along_what_its_model_put_beside_it() -> None:
    """By the id that the backend knows it by; only where calls are signed, and only those that are."""
    signed = Reasoning("", {"chat": {"proofs": [{"id": "c 1", "extra_content": {"google": "sig"}}]}})
    history = (user("a"), assistant(signed, call("c 1"), call("c2")), tool(result("c 1"), result("c2")))
    first, second = messages_of(*history, on=profile(signed_calls=True))[1]["tool_calls"]
    assert (first["extra_content"], "extra_content" in second) == ({"google": "sig"}, False)
    plain = messages_of(*history, on=profile())[1]["tool_calls"]
    assert not [one for one in plain if "extra_content" in one]


@table(
    ("on", "named", "field"),
    [
        (profile(), field_extras("m", "reasoning"), "reasoning"),
        (profile(), field_extras("m", "reasoning_details"), None),
        (profile(), field_extras("other", "reasoning"), None),
        (profile(), {}, None),
        (profile(replay_by_evidence=False), field_extras("m", "reasoning"), None),
        (
            profile(replay="reasoning_content", replay_scope="all"),
            field_extras("m", "reasoning"),
            "reasoning_content",
        ),
    ],
)
def test_thoughts_name_the_field_that_their_model_had_them_in(
    on: BackendProfile, named: Extras, field: str | None
) -> None:
    """Details go back beside calls only."""
    _, said, _ = messages_of(user("a"), assistant(Reasoning("hm", named), "b"), user("c"), on=on)
    assert said == {"role": "assistant", "content": "b"} | ({field: "hm"} if field else {})
