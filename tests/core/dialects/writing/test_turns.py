"""Any history in an order that a backend takes, in a dialect that has nothing but messages."""

from collections.abc import Sequence
from typing import Any

from proxy.core.dialects.writing.content_parts import ContentPart, ContentParts
from proxy.core.dialects.writing.notes import CONTINUE, MOVED
from proxy.core.dialects.writing.turns import TurnWriter
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Image, Part, Reasoning, Result, Text, Turn
from proxy.core.model import Role as R
from proxy.core.profile import BackendProfile
from proxy.core.tools.names import NameTable
from tests.support.chat_requests import assistant, call, developer, profile, result, system, tool, user
from tests.support.tables import table

LINK = Image("https://x.example/a.png")
IMAGE = {"image": LINK.url}
THOUGHT = Reasoning("Hm")


class Unjoined(ContentParts):
    """Shows what went into a message."""

    def content(self, blocks: Sequence[list[ContentPart]]) -> Any:
        return blocks


UNJOINED = Unjoined("text", lambda image: {"image": image.url}, lambda _: None)


class Plain(TurnWriter):
    def _assistant(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Call):
                name, arguments = self._as_called(part)
                self._say("assistant", [[f"{name}({arguments})"]])
            elif isinstance(part, Text):
                self._say("assistant", [[part.text]])
            else:
                self._other(part)
        self._forget(parts)

    def _answer(self, result: Result, contents: list[ContentPart]) -> None:
        self._say("tool", [[f"{result.call_id}:", *contents]])

    def written(self) -> list[tuple[str, list[list[ContentPart]]]]:
        opening = [("system", [list(self._system)])] if self._system else []
        return [*opening, *((message["role"], message["content"]) for message in self._messages)]


def written(
    *turns: Turn,
    on: BackendProfile | None = None,
    ledger: Ledger | None = None,
    flatten: bool = False,
    media_results: bool = False,
) -> list[tuple[str, list[list[ContentPart]]]]:
    on, ledger = on or profile(images="any"), ledger or Ledger()
    writer = Plain(UNJOINED, NameTable(), on, "m", ledger, flatten=flatten, media_results=media_results)
    writer.take(turns)
    return writer.written()


@table(
    ("turns", "changes", "expected"),
    [
        ([], {}, [("user", [[CONTINUE]])]),
        ([system("a"), user("b")], {}, [("system", [["a"]]), ("user", [["b"]])]),
        ([system(""), user("b")], {}, [("user", [["b"]])]),
        (
            [user("a"), developer("b")],
            {"late_system": "user"},
            [("user", [["a"], ["<system>\nb\n</system>"]])],
        ),
        ([user("a"), developer("b")], {"late_system": "merge"}, [("system", [["b"]]), ("user", [["a"]])]),
        (
            [user("a"), developer("b"), user("c")],
            {"late_system": "keep", "system_role": "developer"},
            [("user", [["a"]]), ("developer", [["b"]]), ("user", [["c"]])],
        ),
        ([user("a"), user(""), user("b")], {}, [("user", [["a"], ["b"]])]),
        ([user("a"), user("b")], {"join_users": False}, [("user", [["a"]]), ("user", [["b"]])]),
        (
            [user("a"), assistant("b")],
            {},
            [("user", [["a"]]), ("assistant", [["b"]]), ("user", [[CONTINUE]])],
        ),
    ],
)
def test_who_speaks_when(turns: list[Turn], changes: dict[str, str], expected: object) -> None:
    assert written(*turns, on=profile(**changes)) == expected


CALLED = (user("a"), assistant(call(arguments="[1")))
SAID = [("user", [["a"]]), ("assistant", [['f({"_raw":"[1"})']])]


def test_a_result_answers_its_call_and_wants_an_answer_itself() -> None:
    assert written(*CALLED, tool(result("c1", "ok"))) == [*SAID, ("tool", [["c1:", "ok"]])]


def test_words_between_a_result_and_the_user() -> None:
    spoken = written(*CALLED, tool(result("c1")), user("b"), on=profile(after_tool="Done."))
    assert spoken == [*SAID, ("tool", [["c1:"]]), ("assistant", [["Done."]]), ("user", [["b"]])]


def test_what_a_result_cannot_hold_follows_all_the_results() -> None:
    results = tool(result("c1", "Look:", LINK), result("c2", "ok"))
    assert written(*CALLED, results) == [
        *SAID,
        ("tool", [["c1:", "Look:", MOVED]]),
        ("tool", [["c2:", "ok"]]),
        ("user", [["[returned by f]", IMAGE]]),
    ]
    assert written(*CALLED, results, media_results=True) == [
        *SAID,
        ("tool", [["c1:", "Look:", IMAGE]]),
        ("tool", [["c2:", "ok"]]),
    ]


def test_a_result_told_as_text() -> None:
    spoken = written(*CALLED, tool(result("c1", "ok"), result("c9", LINK)), flatten=True)
    assert spoken == [*SAID, ("user", [["[returned by f]", "ok"], ["[returned by a tool]", IMAGE]])]


@table(
    ("content", "told"),
    [
        (["none"], ["Error:", "none"]),
        (["error: none"], ["error: none"]),
        ([], ["Error:"]),
        ([LINK], ["Error:", IMAGE]),
    ],
)
def test_a_failure_says_so(content: list[str], told: list[ContentPart]) -> None:
    failed = Result("c1", result("c1", *content).content, is_error=True)
    assert written(*CALLED, tool(failed), media_results=True)[-1] == ("tool", [["c1:", *told]])


def test_parts_where_they_mean_nothing_are_counted() -> None:
    ledger = Ledger()
    turns = [
        (R.SYSTEM, ["s", call()]),
        (R.USER, [result(), "a"]),
        (R.ASSISTANT, [LINK, THOUGHT]),
        (R.TOOL, [Text("c")]),
    ]
    assert written(*turns, ledger=ledger) == [("system", [["s"]]), ("user", [["a"]])]
    assert ledger.dropped == {"misplaced_part": 5, "reasoning": 1}
