"""Nothing is lost silently: what was odd and what was dropped is counted for the one line per request."""

from typing import Any

from proxy.core.ledger import Ledger, Silence
from proxy.core.model import Call, Result, Role, ToolKind, ToolName
from proxy.core.surfaces.reading.history import canonical


def test_it_counts_what_was_odd_and_what_was_dropped_apart() -> None:
    ledger = Ledger()
    for what in ("a", "b", "a"):
        ledger.odd(what)
    ledger.drop("a")
    assert dict(ledger.oddities) == {"a": 2, "b": 1}
    assert dict(ledger.dropped) == {"a": 1}


def test_it_counts_what_became_of_calls_that_were_found_in_the_text() -> None:
    ledger = Ledger()
    for outcome in ("recovered", "left", "recovered"):
        ledger.found(outcome, "qwen")
    assert dict(ledger.markup) == {"recovered:qwen": 2, "left:qwen": 1}


def test_it_tells_what_was_strange_by_its_kind_and_no_kind_of_which_nothing_was() -> None:
    ledger = Ledger()
    assert ledger.remarks == {}
    ledger.drop("field")
    assert ledger.remarks == {"dropped": {"field": 1}}
    ledger.odd("a")
    ledger.found("call", "hermes")
    assert ledger.remarks == {"oddities": {"a": 1}, "markup": {"call:hermes": 1}, "dropped": {"field": 1}}


def test_what_the_client_is_told_is_told_once_and_in_order() -> None:
    ledger = Ledger()
    for remark in ("b", "a", "b"):
        ledger.warn(remark)
    assert ledger.warnings == ["b", "a"]


def test_of_two_notes_under_one_name_the_later_counts() -> None:
    ledger = Ledger()
    ledger.note(attempts=1)
    ledger.note(client="codex")
    ledger.note(attempts=2)
    assert ledger.facts == {"attempts": 2, "client": "codex"}


def test_two_requests_share_nothing() -> None:
    Ledger().odd("a")
    assert not Ledger().oddities


def test_without_a_log_it_is_silent() -> None:
    ledger = Ledger()
    assert ledger.log.debug("x", a=1) is None
    assert ledger.log.info("x", a=1) is None


def test_the_log_is_the_one_it_was_given() -> None:
    class Log:
        def __init__(self) -> None:
            self.lines: list[tuple[str, dict[str, Any]]] = []

        def debug(self, event: str, **fields: Any) -> None:
            self.lines.append((event, fields))

        info = debug

    log = Log()
    Ledger(log).log.info("x", a=1)
    assert log.lines == [("x", {"a": 1})]


def test_details_are_for_whoever_reads_them() -> None:
    """A history of hundreds of items is told of one by one only where somebody debugs."""
    told: list[str] = []

    class Listening(Silence):
        def debug(self, event: str, **fields: Any) -> None:
            told.append(event)

    said = [(Role.ASSISTANT, [Call("c", ToolName("f"), ToolKind.FUNCTION, "{}")])]
    said.append((Role.TOOL, [Result("c", ["r"])]))
    canonical(said, Ledger(Listening(), details=False))
    assert told == []
    canonical(said, Ledger(Listening()))
    assert told == ["input_call", "input_output"]


def test_work_that_is_begun_again_is_noted_once() -> None:
    ledger = Ledger()
    ledger.odd("before")
    warnings, entries = ledger.warnings, ledger.entries()
    for _ in range(2):
        ledger.back_to(entries)
        ledger.odd("strange")
        ledger.drop("field")
        ledger.found("call", "hermes")
        ledger.warn("a remark")
        ledger.note(over_limits=1)
    assert ledger.oddities == {"before": 1, "strange": 1}
    assert ledger.dropped == {"field": 1}
    assert ledger.markup == {"call:hermes": 1}
    assert ledger.facts == {"over_limits": 1}
    assert warnings == ["a remark"], "others hold the list itself"
