"""V25, V26, V27, V35: what a reply shows of the server that gave it."""

from dataclasses import replace
from typing import Any

from proxy.core.dialects.reading.reply_lessons import (
    CHAT_ROWS,
    COMMON_ROWS,
    OPENAI_ROWS,
    Observed,
    asked_whole,
    fields_taught,
    fields_to_keep,
)
from proxy.core.errors import Empty, Fault, Truncated, Unfit
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.extras import field_extras
from proxy.core.model import (
    Call,
    ChoiceMode,
    FormatKind,
    OutputFormat,
    Reasoning,
    Request,
    Text,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
    Usage,
)
from proxy.core.profile import DEFAULT, BackendProfile, Replay
from tests.support.tables import table

FORCED = ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f")}))
TOLD = Usage(1, 2, 3)


def call(name: str) -> Call:
    return Call("c", ToolName(name), ToolKind.FUNCTION, "{}")


def reply(*parts: Any, usage: Usage | None = TOLD, fault: Fault | None = None) -> Reply:
    ending = Ending.FAILED if fault else Ending.COMPLETED
    return Reply([PartEnded(part, True) for part in parts], ReplyEnded(ending, usage, fault))


def taught(
    said: Reply, profile: BackendProfile = DEFAULT, *, stream: bool = False, choice: ToolChoice | None = None
) -> dict[str, Any]:
    """What is other than in the profile."""
    request = Request("m", [], stream=stream, choice=choice or ToolChoice())
    seen = fields_taught(OPENAI_ROWS, profile, Observed(request, said))
    return {name: value for name, value in seen.items() if value != getattr(profile, name)}


@table(
    ("thought", "seen"),
    [("</think>", {"thoughts_until": "</think>"}), ("", {"thoughts_until": None}), (None, {})],
)
def test_a_thought_that_the_prompt_has_opened_teaches_its_end(
    thought: str | None, seen: dict[str, Any]
) -> None:
    """In a reply of any kind of backend, and in one that was cut: the tag stands there."""
    cut = reply(Text("Hi"), fault=Truncated("cut"))
    assert fields_taught(COMMON_ROWS, DEFAULT, Observed(Request("m", []), cut, thought)) == seen


def test_a_stream_that_told_no_usage_teaches_to_ask_for_a_whole_answer() -> None:
    assert taught(reply(Text("Hi"), usage=None)) == {"usage_when_whole": True}
    learned = replace(DEFAULT, usage_when_whole=True)
    assert asked_whole(Request("m", [], stream=False), learned)
    assert not asked_whole(Request("m", [], stream=True), learned), "who wants a stream gets one"


def test_a_stream_that_told_it_takes_that_back_and_a_whole_answer_says_nothing() -> None:
    whole = replace(DEFAULT, usage_when_whole=True)
    assert taught(reply(Text("Hi")), whole, stream=True) == {"usage_when_whole": False}
    assert taught(reply(Text("Hi")), whole) == {}
    assert taught(reply(Text("Hi"), usage=None), whole) == {}


@table(
    ("said", "fields"),
    [
        (reply(Text("Hi")), {}),
        (reply(Text("Hi"), usage=None), {"usage": "never"}),
        (reply(Text("Hi"), usage=None, fault=Truncated("cut")), {}),
        (reply(usage=None, fault=Empty("nothing")), {}),
        (Reply([], ReplyEnded(Ending.MAX_TOKENS)), {}),
        (Reply(), {}),
    ],
)
def test_what_says_nothing_of_usage(said: Reply, fields: dict[str, Any]) -> None:
    assert taught(said, replace(DEFAULT, **fields)) == {}


@table(
    "said",
    [
        reply(Text("No.")),
        reply(fault=Empty("nothing")),
        reply(Text("No."), fault=Unfit("no call", code="tool_call_required")),
        reply(call("other"), fault=Unfit("another", code="unknown_tool_call")),
    ],
)
def test_a_reply_without_the_forced_call_teaches_the_other_form(said: Reply) -> None:
    assert taught(said, choice=FORCED) == {"force_tool": "required"}
    assert taught(said, replace(DEFAULT, force_tool="required"), choice=FORCED) == {"force_tool": "object"}


@table(
    ("said", "choice", "force_tool"),
    [
        (reply(call("f")), FORCED, "object"),
        (reply(Text("No.")), ToolChoice(ChoiceMode.REQUIRED), "object"),
        (
            reply(Text("No.")),
            ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f"), ToolName("g")})),
            "object",
        ),
        (reply(Text("No.")), ToolChoice(ChoiceMode.AUTO, frozenset({ToolName("f")})), "object"),
        (reply(Text("No.")), FORCED, "any"),
        (reply(Text("No."), fault=Truncated("cut")), FORCED, "object"),
        (reply(fault=Unfit("its arguments", code="invalid_tool_arguments")), FORCED, "object"),
        (Reply([], ReplyEnded(Ending.MAX_TOKENS)), FORCED, "object"),
        (Reply(), FORCED, "object"),
    ],
)
def test_what_says_nothing_of_the_form(said: Reply, choice: ToolChoice, force_tool: Any) -> None:
    assert taught(said, replace(DEFAULT, force_tool=force_tool), choice=choice) == {}


FORM = OutputFormat(FormatKind.JSON_OBJECT)
AUTO, REQUIRED, NONE = (ToolChoice(mode) for mode in (ChoiceMode.AUTO, ChoiceMode.REQUIRED, ChoiceMode.NONE))
IN_WORDS, PROVEN = {"format_with_tools": False}, {"calls_beside_format": True}
ANSWER, CALLED = reply(Text("{}")), reply(call("f"))


@table(
    ("said", "choice", "fields", "unfit", "seen"),
    [
        (CALLED, AUTO, {}, False, PROVEN),
        (CALLED, REQUIRED, {}, False, {}),
        (CALLED, AUTO, IN_WORDS, False, {}),
        (ANSWER, AUTO, {}, False, IN_WORDS),
        (ANSWER, AUTO, PROVEN, False, {}),
        (ANSWER, AUTO, PROVEN, True, IN_WORDS),
        (ANSWER, AUTO, IN_WORDS, False, {}),
        (ANSWER, AUTO, IN_WORDS, True, IN_WORDS),
        (reply(Text("No."), fault=Unfit("its form", code="unfit_answer")), AUTO, PROVEN, True, IN_WORDS),
        (ANSWER, NONE, {}, False, {}),
        (reply(fault=Empty("nothing")), AUTO, {}, False, IN_WORDS),
        (reply(Text("{}"), fault=Unfit("no call", code="tool_call_required")), REQUIRED, {}, False, IN_WORDS),
        (reply(Text("{}"), fault=Truncated("cut")), AUTO, {}, False, {}),
        (Reply([PartEnded(Text("{"), False)], ReplyEnded(Ending.MAX_TOKENS)), AUTO, {}, False, {}),
        (Reply(), AUTO, {}, False, {}),
        (ANSWER, AUTO, {"format_by_evidence": False}, True, {}),
    ],
)
def test_what_a_reply_shows_of_a_format_beside_tools(
    said: Reply, choice: ToolChoice, fields: dict[str, Any], unfit: bool, seen: dict[str, Any]
) -> None:
    request = Request("m", [], tools=[ToolSpec(ToolName("f"))], choice=choice, format=FORM)
    observed = Observed(request, said, unfit=unfit)
    told = fields_taught(OPENAI_ROWS, replace(DEFAULT, usage="never", **fields), observed)
    assert told == seen


@table(
    ("said", "fields", "kept"),
    [
        (CALLED, IN_WORDS, ["format_with_tools"]),
        (ANSWER, IN_WORDS, []),
        (CALLED, {}, []),
        (CALLED, IN_WORDS | {"format_by_evidence": False}, []),
    ],
)
def test_a_call_that_might_have_been_lost_is_a_reason_to_go_on(
    said: Reply, fields: dict[str, Any], kept: list[str]
) -> None:
    both = Request("m", [], tools=[ToolSpec(ToolName("f"))], format=FORM)
    profile = replace(DEFAULT, **fields)
    assert [*fields_to_keep(profile, Observed(both, said))] == kept
    assert not fields_to_keep(profile, Observed(Request("m", [], format=FORM), said))


def test_without_tools_or_without_a_form_there_is_nothing_to_show() -> None:
    for request in (
        Request("m", [], format=FORM),
        Request("m", [], tools=[ToolSpec(ToolName("f"))]),
    ):
        assert fields_taught(OPENAI_ROWS, replace(DEFAULT, usage="never"), Observed(request, ANSWER)) == {}


def test_where_a_format_may_have_been_in_the_way_the_forced_call_shows_nothing() -> None:
    request = Request("m", [], tools=[ToolSpec(ToolName("f"))], choice=FORCED, format=FORM)
    no_usage = replace(DEFAULT, usage="never")
    assert fields_taught(OPENAI_ROWS, no_usage, Observed(request, ANSWER)) == IN_WORDS
    proven = replace(no_usage, calls_beside_format=True)
    assert fields_taught(OPENAI_ROWS, proven, Observed(request, ANSWER)) == {"force_tool": "required"}


@table(
    ("field", "scope"),
    [("reasoning_content", "all"), ("reasoning", "all"), ("reasoning_details", "calls")],
)
def test_thoughts_in_a_field_teach_that_they_go_back_there(field: Replay, scope: str) -> None:
    said = reply(Reasoning("a"), Reasoning("b", field_extras("m", field)), Text("Hi"))
    observed = Observed(Request("m", []), said)
    assert fields_taught(CHAT_ROWS, DEFAULT, observed) == {
        "replay": field,
        "replay_scope": scope,
    }
    known = replace(DEFAULT, replay_by_evidence=False)
    assert "replay" not in fields_taught(CHAT_ROWS, known, observed)
    assert "replay" not in fields_taught(
        CHAT_ROWS, DEFAULT, Observed(Request("m", []), reply(Reasoning("a")))
    )
