"""The guard, over whatever the assembler makes of any deltas: what it lets through is a reply like any other."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proxy.core.errors import Unfit
from proxy.core.events import Delta, Ending, PartEnded, ReplyEnded
from proxy.core.jsontext import is_object
from proxy.core.ledger import Ledger
from proxy.core.model import Call
from proxy.core.policy.guard import Rules, guard
from proxy.core.tenants import Mode, ToolLimits, Validation
from proxy.core.tools.names import NameTable
from tests.properties.drawn_deltas import assembled, deltas, tables
from tests.properties.examples import examples
from tests.support.assembling import TOOLS, PartDelta, Told, into, read_events, recorder
from tests.support.replies import check_of

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 0}}}


DECLARED = {spec.tool: replace(spec, parameters=SCHEMA) for spec in TOOLS}
modes = st.sampled_from(Mode)
any_rules = st.builds(
    Rules,
    mode=st.sampled_from(Validation),
    declared=st.sampled_from([{}, DECLARED]),
    check_of=st.just(check_of),
    parses=st.booleans(),
    required=st.booleans(),
    limits=st.builds(ToolLimits, argument_bytes=st.integers(0, 9), calls=st.integers(0, 3)),
    limits_mode=modes,
)


def let_through(events: list[Told], rules: Rules) -> list[Told]:
    out: list[Told] = []
    feed = into(guard(rules, Ledger())(recorder(out)))
    for event in events:
        feed(event)
    return out


@examples(400)
@given(deltas, tables, any_rules)
def test_it_stays_well_formed_in_every_mode(said: list[Delta], names: NameTable, rules: Rules) -> None:
    read_events(let_through(assembled(said, names).events, rules))


@examples(250)
@given(deltas, tables, any_rules)
def test_nothing_changes_unless_a_rule_is_enforced(said: list[Delta], names: NameTable, rules: Rules) -> None:
    lenient = replace(rules, parses=False, required=False)
    if lenient.mode is not Validation.ENFORCE and lenient.limits_mode is not Mode.ENFORCE:
        events = assembled(said, names).events
        assert let_through(events, lenient) == events


@examples(250)
@given(deltas, tables, any_rules)
def test_what_is_whole_keeps_to_the_rules(said: list[Delta], names: NameTable, rules: Rules) -> None:
    events = assembled(said, names).events
    out = let_through(events, rules)
    ended = out[-1]
    assert isinstance(ended, ReplyEnded)
    assert ended == events[-1] or isinstance(ended.fault, Unfit)
    calls = [event.part for event in out if isinstance(event, PartEnded) and isinstance(event.part, Call)]
    if rules.limits_mode is Mode.ENFORCE:
        assert len(calls) <= rules.limits.calls
        assert all(len(call.arguments.encode()) <= rules.limits.argument_bytes for call in calls)
    for call in calls:
        spec = rules.declared.get(call.tool)
        check = check_of(spec) if spec else None
        if rules.mode is Validation.ENFORCE:
            assert spec is not None
            assert check is None or check(call.arguments) is None
        if rules.parses and (spec is None or check):
            assert is_object(call.arguments)
    if rules.required and ended.ending is Ending.COMPLETED:
        assert calls


@examples(250)
@given(deltas, tables, any_rules)
def test_of_prose_nothing_is_lost_but_what_comes_after_the_end(
    said: list[Delta], names: NameTable, rules: Rules
) -> None:
    """And it passes in the same pieces: prose is never held."""
    before = _prose(assembled(said, names).events)
    after = _prose(let_through(assembled(said, names).events, rules))
    assert after == before[: len(after)]


def _prose(events: list[Told]) -> list[str]:
    pieces: list[str] = []
    waiting: list[str] = []
    for event in events:
        if isinstance(event, PartDelta):
            waiting.append(event.text)
        elif isinstance(event, PartEnded):
            if not isinstance(event.part, Call):
                pieces += waiting
            waiting.clear()
    return pieces
