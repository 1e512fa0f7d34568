"""V26, V27, V35: what a reply shows of the server that gave it."""

from dataclasses import replace
from typing import Any

from proxy.core.capabilities import DEFAULT, BackendProfile
from proxy.core.errors import Empty, Fault, Truncated, Unfit
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.model import Call, ChoiceMode, Request, Text, ToolChoice, ToolKind, ToolName, Usage
from proxy.core.outbound.reply_lessons import CHAT, Observed, asked_whole, learn
from tests.tables import table

FORCED = ToolChoice(ChoiceMode.REQUIRED, frozenset({ToolName("f")}))
TOLD = Usage(1, 2, 3)


def call(name: str) -> Call:
    return Call("c", ToolName(name), ToolKind.FUNCTION, "{}")


def reply(*parts: Any, usage: Usage | None = TOLD, fault: Fault | None = None) -> Reply:
    ending = Ending.FAILED if fault else Ending.COMPLETED
    return Reply([PartEnded(part, True) for part in parts], ReplyEnded(ending, usage, fault))


def taught(
    said: Reply, profile: BackendProfile = DEFAULT, *, stream: bool = False, choice: ToolChoice | None = None
) -> list[tuple[str, BackendProfile]]:
    request = Request("m", [], stream=stream, choice=choice or ToolChoice())
    return list(learn(CHAT, profile, Observed(request, said)))


def test_a_stream_that_told_no_usage_teaches_to_ask_for_a_whole_answer() -> None:
    ((row, learned),) = taught(reply(Text("Hi"), usage=None))
    assert (row, learned) == ("usage", replace(DEFAULT, usage_when_whole=True))
    assert asked_whole(Request("m", [], stream=False), learned)
    assert not asked_whole(Request("m", [], stream=True), learned), "who wants a stream gets one"


def test_a_stream_that_told_it_takes_that_back_and_a_whole_answer_says_nothing() -> None:
    whole = replace(DEFAULT, usage_when_whole=True)
    assert taught(reply(Text("Hi")), whole, stream=True) == [("usage", DEFAULT)]
    assert taught(reply(Text("Hi")), whole) == []
    assert taught(reply(Text("Hi"), usage=None), whole) == []


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
    assert taught(said, replace(DEFAULT, **fields)) == []


@table(
    "said",
    [
        reply(Text("No.")),
        reply(fault=Empty("nothing")),
        reply(Text("No."), fault=Unfit("no call", code="tool_call_required")),
        reply(call("other"), fault=Unfit("another", code="x")),
    ],
)
def test_a_reply_without_the_forced_call_teaches_the_other_form(said: Reply) -> None:
    ((row, learned),) = taught(said, choice=FORCED)
    assert (row, learned) == ("force_tool", replace(DEFAULT, force_tool="required"))
    ((_, again),) = taught(said, learned, choice=FORCED)
    assert again == DEFAULT


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
    ],
)
def test_what_says_nothing_of_the_form(said: Reply, choice: ToolChoice, force_tool: Any) -> None:
    assert taught(said, replace(DEFAULT, force_tool=force_tool), choice=choice) == []
