from proxy.core.errors import ClientFault, Unauthorized
from proxy.core.examination import basics
from proxy.core.examination.findings import Answer, Standing, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.model import Usage
from tests.support.courses import N, R, U, W, case_of, found, walked

COUNTED = Answer(Verdict.WORKS, "", Heard(200, usage=Usage(20, 1, 21)))


def test_a_model_may_fall_silent_once() -> None:
    case = case_of()
    row = found(basics.text(case, "text"), Heard(200), Heard(200, text="Blue.", seconds=0.25))
    assert (row.standing, case.usual_seconds) == (Standing.SAME, 0.25)
    silent = found(basics.text(case, "text"), Heard(200), Heard(200, thoughts="Hm."))
    assert (silent.standing, silent.seen) == (Standing.UNKNOWN, "nothing but thoughts")


def test_without_any_text() -> None:
    row = found(basics.text(case_of(), "text"), Heard(404, ClientFault("No such model.")))
    assert (row.standing, row.seen, row.remark) == (
        Standing.WORSE,
        "HTTP 404: No such model.",
        basics.NEEDS_ANOTHER,
    )
    own = found(basics.text(case_of(), "text"), Heard(401, Unauthorized("No.")))
    assert own.standing is Standing.WORSE


def test_limits_of_answers() -> None:
    row = found(basics.length_field(case_of(), "x"), R, W)
    assert dict(row.overrides) == {"length_field": "max_completion_tokens"}
    assert found(basics.length_field(case_of(), "x"), R, R).standing is Standing.WORSE


def test_answers_without_a_limit() -> None:
    assert walked(basics.length_default(case_of(length_default=100), "x"), []) is None
    assert found(basics.length_default(case_of(), "x"), U).standing is Standing.UNKNOWN
    assert found(basics.length_default(case_of(), "x"), W).standing is Standing.SAME


def test_token_counts() -> None:
    case = case_of()
    assert found(basics.usage(case, "x"), COUNTED).standing is Standing.SAME
    assert case.baseline == 20
    unasked = found(basics.usage(case, "x"), R, COUNTED)
    assert (dict(unasked.overrides), unasked.standing) == ({"usage": "never"}, Standing.WORSE)
    whole = found(basics.usage(case, "x"), N, N, W)
    assert dict(whole.overrides) == {"usage_when_whole": True}
    known = found(basics.usage(case_of(usage_when_whole=True), "x"), N, N, W)
    assert (known.standing, known.overrides) == (Standing.SAME, {})
    none = found(basics.usage(case, "x"), N, N, N)
    assert (none.standing, none.seen, dict(none.overrides)) == (Standing.WORSE, "none (so it is)", {})
    unclear = found(basics.usage(case, "x"), U, U, U)
    assert (unclear.standing, dict(unclear.overrides)) == (Standing.UNKNOWN, {})
    never = found(basics.usage(case_of(usage="never"), "x"), N, R, N)
    assert dict(never.overrides) == {}
