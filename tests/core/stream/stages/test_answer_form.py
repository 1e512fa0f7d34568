from proxy.core.events import Ending, Event, PartEnded, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName, Usage
from proxy.core.stream.stages.answer_form import BREACH, answer_form
from tests.support.assembling import Told, into, recorder

CALL = Call("1", ToolName("f"), ToolKind.FUNCTION, "{}")
USAGE = Usage(1, 2, 3)


def judged(
    *parts: ReplyPart, ending: Ending = Ending.COMPLETED, enforced: bool = False
) -> tuple[Event, Ledger, list[str]]:
    """The last event, and what was held against the form."""
    out: list[Told] = []
    asked: list[str] = []
    ledger = Ledger()

    def problem(answer: str) -> str | None:
        asked.append(answer)
        return "it is bad" if "bad" in answer else None

    breaches: list[str] = []
    stage = answer_form(problem, ledger, enforced=enforced, on_breach=lambda: breaches.append(BREACH))
    feed = into(stage(recorder(out)))
    events = [ReplyStarted(), *(PartEnded(part, True) for part in parts), ReplyEnded(ending, USAGE)]
    for event in events:
        feed(event)
    assert out[:-1] == events[:-1]
    assert not isinstance(out[-1], tuple | str)
    assert len(breaches) == ledger.oddities.get(BREACH, 0)
    return out[-1], ledger, asked  # type: ignore[return-value]


def test_an_answer_with_the_form_passes() -> None:
    ended, ledger, asked = judged(Reasoning("hm"), Text("{"), Text("}"))
    assert (ended, ledger.warnings, asked) == (ReplyEnded(Ending.COMPLETED, USAGE), [], ["{}"])


def test_another_is_counted_and_told_of() -> None:
    ended, ledger, _ = judged(Text("bad"))
    assert ended == ReplyEnded(Ending.COMPLETED, USAGE)
    assert ledger.oddities == {BREACH: 1}
    assert ledger.warnings == [
        "unfit_answer: The answer does not have the form that was asked for, and that the backend does not enforce: "
        "it is bad."
    ]


def test_another_fails_where_the_rules_say_so() -> None:
    ended, ledger, _ = judged(Text("bad"), enforced=True)
    assert isinstance(ended, ReplyEnded)
    assert ended.fault is not None
    assert (ended.ending, ended.usage, ended.fault.code) == (Ending.FAILED, USAGE, BREACH)
    assert ledger.warnings == []


def test_what_is_no_whole_answer_is_not_looked_at() -> None:
    for parts in ([Text("bad"), CALL], [Text("bad"), Refusal("No.")], [Reasoning("bad")]):
        assert judged(*parts)[2] == []
    assert judged(Text("bad"), ending=Ending.MAX_TOKENS)[2] == []
