from proxy.core.errors import ClientFault, NotFound, Overloaded, Truncated
from proxy.core.examination import limits
from proxy.core.examination.findings import Standing
from proxy.core.examination.heard import Heard
from tests.support.courses import N, R, U, W, case_of, found, refused, walked

LONG = ClientFault("Too long.", code="context_length_exceeded")


def test_options() -> None:
    case = case_of()
    case.ignores_unknown = True  # so that nothing is gained by what is taken
    row = found(limits.options(case, "x"), *[N] * 6, W)
    assert (row.standing, dict(row.overrides)) == (Standing.SAME, {})
    nothing = case_of(dialect="anthropic", tuning=[])
    assert walked(limits.options(nothing, "x"), []) is None


def test_unknown_fields() -> None:
    case = case_of()
    assert found(limits.unknown_field(case, "x"), W).seen == "taken and not looked at"
    assert case.ignores_unknown
    assert found(limits.unknown_field(case, "x"), R).seen == "refused (so it is)"
    assert not case.ignores_unknown


def test_counters() -> None:
    row = found(limits.counter(case_of(), "x"), R, W)
    assert (row.standing, dict(row.overrides)) == (Standing.BETTER, {"counter": "sglang"})


def test_unknown_models() -> None:
    def seen(heard: Heard) -> str:
        return found(limits.unknown_model(case_of(), "x"), heard).seen

    assert seen(Heard(404, NotFound("?"))) == "refused with 404"
    assert seen(refused("?")) == "refused with 400, which clients cannot tell from other errors"
    assert seen(Heard(200)) == "answered all the same"
    unclear = found(limits.unknown_model(case_of(), "x"), Heard(200, Truncated("?")))
    assert unclear.standing is Standing.UNKNOWN


def test_wrong_requests() -> None:
    assert found(limits.bad_request(case_of(), "x"), Heard(200)).seen == "taken"


def test_overflow() -> None:
    def row(heard: Heard) -> Standing:
        return found(limits.overflow(case_of(window=4000), "x"), heard).standing

    assert row(Heard(400, LONG)) is Standing.SAME
    assert row(refused("?")) is Standing.WORSE
    assert row(Heard(200)) is Standing.WORSE
    assert row(Heard(200, Truncated("?"))) is Standing.UNKNOWN
    large = found(limits.overflow(case_of(window=1_000_000), "x"))
    assert large.seen == "not asked: the window has 1000000 tokens"


def test_leaving() -> None:
    case = case_of()
    assert found(limits.leaving(case, "x"), W, W).standing is Standing.UNKNOWN
    case.usual_seconds = 0.5
    assert found(limits.leaving(case, "x"), W, Heard(200, seconds=0.6)).standing is Standing.SAME
    slow = found(limits.leaving(case, "x"), W, Heard(200, seconds=9.5))
    assert (slow.standing, slow.seen) == (Standing.WORSE, "it goes on: the next request waited 9.0 s")
    busy = found(limits.leaving(case, "x"), W, Heard(503, Overloaded("Busy.")))
    assert busy.seen == "it goes on: the next request was refused"
    assert found(limits.leaving(case, "x"), U, W).standing is Standing.UNKNOWN
    assert found(limits.leaving(case, "x"), W, U).standing is Standing.UNKNOWN
