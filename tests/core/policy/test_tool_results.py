"""P09: results of tools are cut to what their tenant wants to pay for, and say so."""

import pytest

from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Image,
    Part,
    Request,
    Result,
    Role,
    ToolKind,
    ToolName,
    UserPart,
)
from proxy.core.policy.tool_results import truncated
from tests.support.tables import table

CALL = Call("a", ToolName("f"), ToolKind.FUNCTION, "{}")
IMAGE = Image("data:image/png;base64,AAAA")


def asking(*content: UserPart) -> Request:
    return Request(
        "m",
        [
            (Role.USER, ["x" * 100]),
            (Role.ASSISTANT, [CALL]),
            (Role.TOOL, [Result("a", list(content), is_error=True)]),
        ],
    )


def cut(max_bytes: int, *content: UserPart) -> list[Part]:
    request = asking(*content)
    shorter = truncated(request, max_bytes, Ledger())
    assert request == asking(*content), "a request is never changed"
    result = shorter.turns[-1][1][0]
    assert isinstance(result, Result)
    assert (result.call_id, result.is_error) == ("a", True)
    assert shorter.turns[:-1] == request.turns[:-1]
    return list(result.content)


def notice(shown: int, total: int) -> str:
    return f"\n\n[Truncated: only the first {shown} of {total} bytes are shown.]"


def test_p09_by_default_nothing_is_cut() -> None:
    request = asking("x" * 1_000_000)
    assert truncated(request, None, Ledger()) is request


def test_p09_what_is_short_enough_stays_as_it_is() -> None:
    ledger = Ledger()
    request = asking("x" * 6, IMAGE, "é" * 2)
    assert truncated(request, 10, ledger) is request
    assert not ledger.warnings


def test_p09_a_long_text_is_cut_with_a_notice() -> None:
    assert cut(4, "123456") == ["1234" + notice(4, 6)]


@table(
    ("text", "left"),
    [("aéz", "a"), ("aaéz", "aa"), ("éz", "é"), ("a\U0001f600", "a"), ("a\ud83dz", "a")],
)
def test_p09_no_character_is_cut_in_two(text: str, left: str) -> None:
    total = len(text.encode("utf-8", "surrogatepass"))
    assert cut(2, text) == [left + notice(len(left.encode()), total)]


def test_p09_the_texts_of_a_result_are_measured_together_and_images_stay() -> None:
    content = ("123", IMAGE, "456", "789", IMAGE)
    assert cut(4, *content) == ["123", IMAGE, "4" + notice(4, 9), IMAGE]


def test_p09_nothing_may_be_left_but_the_notice() -> None:
    assert cut(0, "123") == [notice(0, 3)]


def test_p09_the_client_is_told_once_and_the_log_how_many() -> None:
    ledger = Ledger()
    request = Request("m", [(Role.TOOL, [Result(name, ["123"]) for name in "abc"])])
    shorter = truncated(request, 2, ledger)
    assert truncated(request, 2, Ledger()) == shorter, "the same cut each time"
    assert ledger.facts == {"results_cut": 3}
    (warning,) = ledger.warnings
    assert "3 tool result(s)" in warning
    assert "2 bytes" in warning


@pytest.mark.parametrize("size", [0, 1])
def test_p09_an_empty_result_is_never_cut(size: int) -> None:
    assert cut(size, "") == [""]
