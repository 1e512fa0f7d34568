from proxy.core.examination import thinking
from proxy.core.examination.findings import Standing
from proxy.core.examination.heard import Heard
from proxy.core.examination.spelling import Spelling
from proxy.core.model import Usage
from tests.support.courses import R, U, W, case_of, found, refused, walked

SAME, BETTER, WORSE, UNKNOWN = Standing.SAME, Standing.BETTER, Standing.WORSE, Standing.UNKNOWN


def tokens(count: int) -> Heard:
    return Heard(200, usage=Usage(count, 1, count + 1))


def test_the_switch() -> None:
    assert found(thinking.effort(case_of(effort_field="thinking"), "x"), U).standing is UNKNOWN
    case = case_of()
    case.thinks = True
    row = found(thinking.effort(case, "x"), Heard(200, thoughts="Hm."), Heard(200), Heard(200, text="Blue."))
    assert (row.standing, dict(row.overrides)) == (BETTER, {"effort_field": "enable_thinking"})
    none = found(thinking.effort(case, "x"), *[Heard(200, thoughts="Hm.")] * 5)
    assert (none.standing, none.seen) == (SAME, "no known switch")
    switched = found(thinking.effort(case, "x"), R, Heard(200, text="Blue."))
    assert dict(switched.overrides) == {
        "effort_field": "thinking",
        "effort_map": thinking.THINKING_SWITCH,
    }


def test_words_for_effort() -> None:
    assert walked(thinking.efforts(case_of(), "x"), []) is None
    case = case_of(effort_field="reasoning_effort", effort_map={"none": None, "max": "top"})
    assert found(thinking.efforts(case, "x"), *[U] * 7).standing is UNKNOWN
    row = found(thinking.efforts(case, "x"), R, R, W, W, W, W, R)
    assert dict(row.overrides) == {"effort_map": {"none": "low", "minimal": "low", "max": "xhigh"}}


def test_beside_tools() -> None:
    assert walked(thinking.beside_tools(case_of(), "x"), []) is None
    case = case_of(effort_field="reasoning_effort")
    row = found(thinking.beside_tools(case, "x"), refused("Something else."))
    assert (row.standing, dict(row.overrides)) == (UNKNOWN, {})


def replayed(assumed: str, came: str | None, *heard: Heard) -> tuple[Standing, dict[str, object]]:
    case = case_of(replay=assumed)
    case.spelling = Spelling({came} if came else set())
    row = found(thinking.replay(case, "x"), *heard)
    return row.standing, dict(row.overrides)


def test_thoughts_go_back() -> None:
    no = refused("No.")
    field = "reasoning_content"
    assert replayed("none", None) == (SAME, {})
    assert replayed("none", "reasoning_text") == (SAME, {})
    assert replayed("none", field, tokens(50), tokens(90)) == (BETTER, {"replay": field})
    assert replayed("none", field, tokens(50), tokens(55)) == (SAME, {})
    assert replayed("none", field, tokens(50), no) == (SAME, {})
    assert replayed("none", field, Heard(200), tokens(90)) == (SAME, {})
    assert replayed("none", field, no, no) == (UNKNOWN, {})
    assert replayed(field, field, tokens(50), tokens(90)) == (SAME, {})
    assert replayed(field, None, tokens(50), tokens(50)) == (SAME, {})
    assert replayed(field, field, tokens(50), no) == (WORSE, {"replay": "none"})
    other = replayed("reasoning", field, tokens(50), tokens(90), no)
    assert other == (WORSE, {"replay": field})
    unread = replayed("reasoning", field, tokens(50), tokens(90), tokens(50))
    assert unread == (BETTER, {"replay": field})
    assert replayed("think_tags", None, tokens(50), tokens(90)) == (SAME, {})
    needed = {"replay": field, "replay_blank": " ", "replay_scope": "all"}
    assert replayed("none", field, no, tokens(90)) == (WORSE, needed)


def test_scope() -> None:
    assert walked(thinking.replay_scope(case_of(replay="reasoning"), "x"), []) is None
    assert walked(thinking.replay_scope(case_of(replay_scope="all"), "x"), []) is None
    row = found(thinking.replay_scope(case_of(replay="reasoning", replay_scope="all"), "x"), R)
    assert dict(row.overrides) == {"replay_scope": "calls"}


def test_thoughts_in_the_text() -> None:
    case = case_of(thoughts_until="</think>")
    assert found(thinking.unopened(case, "x")).standing is SAME
    case.closer = "</thought>"
    assert dict(found(thinking.unopened(case, "x")).overrides) == {"thoughts_until": "</thought>"}
