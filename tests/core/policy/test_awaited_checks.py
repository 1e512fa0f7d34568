"""What could take long to check is asked elsewhere: until the verdict comes, nothing overtakes the call (attack-02)."""

from dataclasses import replace
from typing import Any

from proxy.core.argument_problem import ArgumentProblem
from proxy.core.errors import Unfit
from proxy.core.events import Ending, PartEnded, ReplyEnded, ReplyStarted
from proxy.core.ledger import Ledger
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.policy.awaited_checks import AwaitedChecks, PendingCheck
from proxy.core.policy.guard import Rules, guard
from proxy.core.tenants import Validation
from proxy.core.tools.arguments import briefly, is_checked
from tests.support.assembling import Told, into, read_events, recorder
from tests.support.guarding import END, TEXT, call

LONG = {"type": "object", "properties": {"x": {"pattern": "^(a+)+$"}}}
SUMMED = ToolSpec(ToolName("summed"), parameters={"properties": {"x": {"items": {"minimum": 0}}}})
LOOKED_AT = ToolSpec(ToolName("short"), parameters={"type": "object"})
ASKED = ToolSpec(ToolName("long"), parameters=LONG)
FREE = ToolSpec(ToolName("free"), ToolKind.CUSTOM)
DECLARED = {spec.tool: spec for spec in (LOOKED_AT, ASKED, FREE, SUMMED)}
SAID = '{"x":"aa"}'
BAD = ArgumentProblem("invalid_tool_arguments", "it does not match", ".x")


class Reply:
    def __init__(self, mode: Validation = Validation.ENFORCE) -> None:
        self.checks = AwaitedChecks(DECLARED, is_checked, briefly)
        rules = Rules(mode=mode, declared=DECLARED, check_of=self.checks.check_of)
        self.events: list[Told] = []
        self.ledger = Ledger()
        self._feed = into(self.checks.stage(guard(rules, self.ledger)(recorder(self.events))))
        self.say(ReplyStarted())

    def say(self, *events: Told) -> None:
        for event in events:
            self._feed(event)

    @property
    def shown(self) -> list[Told]:
        if isinstance(self.events[-1], ReplyEnded):
            read_events(self.events)
        return self.events[1:]

    @property
    def fault(self) -> Any:
        ended = self.events[-1]
        assert isinstance(ended, ReplyEnded)
        assert ended.ending is Ending.FAILED
        return ended.fault


def asked(id: str = "a", said: str = SAID) -> list[Told]:
    return call(said, spec=ASKED, id=id)


def test_what_is_short_to_check_asks_nobody() -> None:
    reply = Reply()
    events = [*TEXT, *call("{}", spec=LOOKED_AT), *call("*** Begin", spec=FREE, id="b"), END]
    reply.say(*events)
    assert reply.checks.pending is None
    assert reply.shown == events


def test_until_the_verdict_comes_everything_behind_the_call_waits() -> None:
    reply = Reply()
    reply.say(*asked(), *TEXT, END)
    assert reply.checks.pending == PendingCheck(ASKED, SAID)
    assert reply.shown == []
    reply.checks.settle(None)
    assert reply.shown == [*asked(), *TEXT, END]


def test_one_question_after_the_other() -> None:
    reply = Reply()
    reply.say(*asked(), *asked("b", '{"x":"b"}'), *call("{}", spec=LOOKED_AT, id="c"), END)
    reply.checks.settle(None)
    assert reply.checks.pending == PendingCheck(ASKED, '{"x":"b"}')
    assert reply.shown == asked()
    reply.checks.settle(BAD)
    assert reply.shown[:-1] == asked()
    assert isinstance(reply.fault, Unfit)
    assert reply.fault.code == "invalid_tool_arguments"
    assert "at .x: it does not match" in reply.fault.message


def test_when_nobody_waits_any_more_nothing_passes_as_if_it_had_been_checked() -> None:
    reply = Reply()
    reply.say(*asked(), *asked("b"), END)
    reply.checks.give_up()
    assert reply.checks.pending is None
    assert reply.fault.code == "unchecked_tool_arguments"
    assert "is unchecked" in reply.fault.message
    assert len(reply.shown) == 1


def test_where_calls_are_only_observed_the_client_is_told() -> None:
    reply = Reply(Validation.OBSERVE)
    reply.checks.give_up()
    reply.say(*asked(), END)
    assert reply.shown == [*asked(), END]
    assert reply.ledger.oddities == {"unchecked_tool_arguments": 1}
    assert "is unchecked" in reply.ledger.warnings[0]


def test_a_call_of_no_declared_tool_or_cut_short_is_not_asked_about() -> None:
    reply = Reply(Validation.OBSERVE)
    cut = [*asked()[:-1], replace(asked()[-1], complete=False)]  # type: ignore[type-var]
    assert isinstance(cut[-1], PartEnded)
    reply.say(*call("{}", spec=ToolSpec(ToolName("another"))), *cut, END)
    assert reply.checks.pending is None


def test_the_brief_checks_of_one_reply_share_one_allowance() -> None:
    """attack-10: each may be short, and there may be thousands in one read."""
    reply = Reply(Validation.OBSERVE)
    long = '{"x":[' + ",".join("1" * 500) + "]}"
    for number in range(50):
        if reply.checks.pending is None:
            reply.say(*call(long, spec=SUMMED, id=f"{number}"))
    assert reply.checks.pending is not None
