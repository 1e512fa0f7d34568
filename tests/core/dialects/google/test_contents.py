"""Whatever order turns come in, the strict server takes the contents; signatures keep their parts."""

from typing import Any

from proxy.core.dialects.google.contents import MAX_DEPTH
from proxy.core.dialects.google.signatures import DUMMY
from proxy.core.dialects.writing.call_arguments import INVALID
from proxy.core.dialects.writing.notes import CONTINUE, MOVED, NO_IMAGES
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, Call, File, Image, Reasoning, Refusal, Result, Role, Text, ToolKind
from tests.support.chat_requests import assistant, call, developer, result, system, tool, user
from tests.support.google_requests import NEW, OLD, SIGNATURE, body_of, contents_of, google, signed
from tests.support.tables import table

PNG = "data:image/png;base64,iVBORw0KGgo="
INLINE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def said(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(calls)}


def a_call(
    id: str = "c1", name: str = "f", args: Any = None, signature: str | None = DUMMY
) -> dict[str, Any]:
    proof = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"id": id, "name": name, "args": args or {}}, **proof}


def returned(output: Any, id: str = "c1", name: str = "f", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": name, "response": {"output": output}, **more}}


# ── order ──


def test_a_conversation_with_tools_in_full() -> None:
    """All results of a step in one content, in the order of the calls."""
    contents = contents_of(
        user("Hi"),
        assistant("Both.", call("a", "f", '{"x":1}'), call("b", "g")),
        tool(result("a", "1"), result("b", "2")),
        user("And?"),
    )
    assert contents == [
        said("Hi"),
        called(
            {"text": "Both."}, a_call("a", args={"x": 1}, signature=None), a_call("b", "g", signature=None)
        ),
        {"role": "user", "parts": [returned("1", "a"), returned("2", "b", "g")]},
        said("And?"),
    ]


def test_a_history_that_begins_with_the_model_gets_a_user_before_it() -> None:
    contents = contents_of(assistant(call()), tool(result()))
    assert contents[0] == said(CONTINUE)


def test_a_conversation_that_ends_with_the_model_gets_a_user_after_it() -> None:
    assert contents_of(user("Hi"), assistant("Yes"))[-1] == said(CONTINUE)
    assert contents_of(system("Be brief."))[-1] == said(CONTINUE)
    assert contents_of(user("Hi"), assistant("")) == [said("Hi")]


def test_neighbours_of_one_role_become_one() -> None:
    assert contents_of(user("a"), user("b"), assistant("c"), user(""), assistant("d"), user("e")) == [
        said("a", "b"),
        called({"text": "c"}, {"text": "d"}),
        said("e"),
    ]


def test_reasoning_before_a_call_does_not_disturb_the_order() -> None:
    """The thought is no turn of its own, and without its proof it is not sent at all."""
    ledger = Ledger()
    contents = contents_of(
        user("Hi"), assistant(Reasoning("Hm"), call()), tool(result("c1", "ok")), ledger=ledger
    )
    assert contents[1] == called(a_call())
    assert ledger.dropped == {"reasoning": 1}


def test_parts_without_anything_in_them_are_not_sent() -> None:
    """A part without data is refused."""
    assert contents_of(user("", "Hi"), assistant(Text(""), Refusal("No.")), user("Why?")) == [
        said("Hi"),
        called({"text": "No."}),
        said("Why?"),
    ]


def test_a_part_in_a_foreign_turn_is_left_out() -> None:
    ledger = Ledger()
    contents = contents_of(
        (Role.SYSTEM, [Image(PNG), "s"]),
        (Role.USER, [call("x"), "Hi"]),
        (Role.ASSISTANT, [Image(PNG), call()]),
        (Role.TOOL, [Text("x"), result()]),
        (Role.TOOL, [Text("x")]),
        ledger=ledger,
    )
    assert contents == [said("Hi"), called(a_call()), {"role": "user", "parts": [returned("")]}]
    assert ledger.dropped == {"misplaced_part": 5}


# ── instructions ──


def test_instructions_before_the_conversation_have_their_own_place() -> None:
    body = body_of(system("a"), developer("b"), system(""), user("Hi"))
    assert body["systemInstruction"] == {"parts": [{"text": "a"}, {"text": "b"}]}
    assert body["contents"] == [said("Hi")]


def test_later_instructions_stay_where_they_are() -> None:
    """As text of the user, so that what came before keeps its prefix."""
    body = body_of(user("Hi"), developer("Be brief."), developer(""))
    assert body["contents"] == [said("Hi", "<system>\nBe brief.\n</system>")]
    merged = body_of(user("Hi"), developer("Be brief."), on=google(late_system="merge"))
    assert merged["systemInstruction"] == {"parts": [{"text": "Be brief."}]}


def test_a_model_without_a_place_for_instructions_hears_them_from_the_user() -> None:
    """Gemma."""
    body = body_of(system("Be brief."), user("Hi"), model="gemma-3-27b-it")
    assert body == {"contents": [said("Be brief.", "Hi")]}


# ── calls ──


@table(
    ("arguments", "args"),
    [
        ('{"b":1,"a":[1,2.5]}', {"b": 1, "a": [1, 2.5]}),
        ("", {}),
        (" \n", {}),
        ('{"cut": ', {INVALID: '{"cut": '}),
        ("[1]", {INVALID: "[1]"}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_once_wrote(arguments: str, args: Any) -> None:
    """R09: never repaired, at most wrapped."""
    contents = contents_of(user("Hi"), assistant(call(arguments=arguments)), tool(result()))
    assert contents[1]["parts"][0]["functionCall"]["args"] == args


def test_a_custom_tools_input_is_told_as_its_functions_arguments() -> None:
    contents = contents_of(user("Hi"), assistant(call(arguments="ls", kind=ToolKind.CUSTOM)), tool(result()))
    assert contents[1]["parts"][0]["functionCall"]["args"] == {"input": "ls"}


# ── results ──


@table(
    ("text", "output"),
    [
        ("ok", "ok"),
        ('{"a": 1}', {"a": 1}),
        (' {"a": 1.50}', {"a": 1.5}),
        ('{"a": "\ud800"}', '{"a": "\ufffd"}'),
        ("[1]", "[1]"),
        ('{"cut": ', '{"cut": '),
        ('{"a": {"$ref": "#/x"}}', '{"a": {"$ref": "#/x"}}'),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), None),
    ],
)
def test_a_result_that_is_an_object_is_told_as_one(text: str, output: Any) -> None:
    """ "$ref" in a result is taken for a reference, so such a result stays text."""
    output = text if output is None else output
    contents = contents_of(user("Hi"), assistant(call()), tool(result("c1", text)))
    assert contents[2]["parts"] == [returned(output)]


def test_a_tools_failure_is_told_as_one() -> None:
    failed = Result("c1", ["no such file"], is_error=True)
    contents = contents_of(user("Hi"), assistant(call()), tool(failed))
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"error": "no such file"}


def test_v43_a_failure_in_words_is_told_as_one_too() -> None:
    contents = contents_of(user("Hi"), assistant(call()), tool(result("c1", "Error: no such file")))
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"error": "Error: no such file"}


def test_an_image_in_a_result_stays_inside_it_where_it_may() -> None:
    contents = contents_of(user("Hi"), assistant(call()), tool(result("c1", "see", Image(PNG))))
    assert contents[2]["parts"] == [returned("see", parts=[INLINE])]


@table(
    ("model", "image", "part"),
    [
        (OLD, PNG, INLINE),
        (
            NEW,
            "data:image/gif;base64,R0lGODlh",
            {"inlineData": {"mimeType": "image/gif", "data": "R0lGODlh"}},
        ),
        (NEW, "https://x/a.png", {"fileData": {"fileUri": "https://x/a.png", "mimeType": "image/png"}}),
    ],
)
def test_an_image_that_may_not_follows_in_a_content_of_its_own(model: str, image: str, part: Any) -> None:
    """Beside the responses it would be counted as one."""
    ledger = Ledger()
    contents = contents_of(
        user("Hi"), assistant(call()), tool(result("c1", "see", Image(image))), model=model, ledger=ledger
    )
    assert contents[2]["parts"] == [returned(f"see\n{MOVED}")]
    assert contents[3] == {"role": "user", "parts": [{"text": "[returned by f]"}, part]}
    assert not ledger.dropped


def test_what_may_not_pass_is_replaced_by_words() -> None:
    contents = contents_of(
        user("Hi", Image(PNG)),
        assistant(call()),
        tool(result("c1", Image(PNG), File(id="file-1"))),
        on=google(images="none"),
    )
    assert contents[0] == said("Hi", NO_IMAGES)
    assert contents[2]["parts"] == [returned(f"{NO_IMAGES}\n[file left out: this backend cannot read it]")]


def test_images_sound_and_files_of_the_user() -> None:
    [content] = contents_of(user("See", Image(PNG), Audio("UklGRg==", "wav")))
    audio = {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}
    assert content["parts"] == [{"text": "See"}, INLINE, audio]


# ── signatures ──


def parts_after(*parts: Any, model: str = NEW, **how: Any) -> list[dict[str, Any]]:
    calls = [part for part in parts if isinstance(part, Call)]
    answers = [tool(*(result(each.call_id, "ok") for each in calls))] if calls else [user("Go on")]
    contents = contents_of(user("Hi"), assistant(*parts), *answers, model=model, **how)
    parts_ = contents[1]["parts"]
    assert isinstance(parts_, list)
    return parts_


def test_a_signature_returns_on_the_call_it_came_with() -> None:
    """Parallel calls stay in one content, of which the first alone is signed."""
    assert parts_after(signed(), call("a"), call("b")) == [
        a_call("a", signature=SIGNATURE),
        a_call("b", signature=None),
    ]
    assert parts_after(call("a"), signed(), call("b")) == [a_call("a"), a_call("b", signature=SIGNATURE)]


def test_a_signature_finds_its_call_past_a_text_that_came_between() -> None:
    assert parts_after(signed(), "Wait.", call()) == [{"text": "Wait."}, a_call(signature=SIGNATURE)]


def test_a_signature_whose_call_is_lost_goes_on_no_other_part() -> None:
    ledger = Ledger()
    assert parts_after(signed("QQ=="), signed("Qg=="), call(), ledger=ledger) == [a_call(signature="Qg==")]
    assert parts_after(signed(), "Yes", ledger=ledger) == [{"text": "Yes"}]
    assert ledger.dropped == {"signature": 2}


def test_a_signature_of_a_text_returns_on_it() -> None:
    assert parts_after(signed(place="text"), "Yes") == [{"text": "Yes", "thoughtSignature": SIGNATURE}]


def test_a_signature_that_came_within_a_text_follows_it() -> None:
    alone = {"text": "", "thoughtSignature": SIGNATURE}
    assert parts_after("Yes", signed(place="text")) == [{"text": "Yes"}, alone]
    assert parts_after("Yes", signed(place="text"), call()) == [{"text": "Yes"}, alone, a_call()]


def test_a_signature_at_the_end_returns_on_an_empty_text() -> None:
    assert parts_after("Yes", signed(place="end")) == [
        {"text": "Yes"},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]


def test_a_signature_of_a_thought_returns_with_the_thought() -> None:
    assert parts_after(signed(place="thought", text="Hm"), "Yes") == [
        {"text": "Hm", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "Yes"},
    ]


def test_another_models_signature_is_not_sent_to_this_one() -> None:
    """After a switch of models."""
    assert parts_after(signed(model="gemini-3-pro-preview"), call()) == [a_call()]


def test_a_lost_signature_is_replaced_in_the_current_turn_only() -> None:
    """Older turns are not checked."""
    contents = contents_of(
        user("Hi"),
        assistant(call("a"), call("b")),
        tool(result("a"), result("b")),
        assistant("Done."),
        user("Again"),
        assistant(call("c"), call("d")),
        tool(result("c"), result("d")),
        assistant(call("e")),
        tool(result("e")),
    )
    proofs = [[part.get("thoughtSignature") for part in content["parts"]] for content in contents]
    assert proofs[1] == [None, None]
    assert (proofs[5], proofs[7]) == ([DUMMY, None], [DUMMY])


def test_generations_before_the_third_need_no_replacement() -> None:
    assert parts_after(call(), model=OLD) == [a_call(signature=None)]


def test_where_signatures_were_refused_all_are_replaced() -> None:
    """It is not known which of them it was."""
    contents = contents_of(
        user("Hi"),
        assistant(signed(), call("a")),
        tool(result("a")),
        user("Again"),
        assistant(signed(), call("b")),
        tool(result("b")),
        on=google(signed_calls=False),
    )
    assert [contents[1], contents[4]] == [called(a_call("a")), called(a_call("b"))]
