from proxy.core.errors import Truncated
from proxy.core.examination import calling
from proxy.core.examination.findings import Standing
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import WEATHER
from proxy.core.model import Call, ToolKind
from tests.support.courses import N, R, U, W, case_of, found, refused

CALL = Call("1", WEATHER, ToolKind.FUNCTION, '{"city":"Oslo"}')
NO = refused("No.")


def test_tools() -> None:
    assert found(calling.tools(case_of(), "x"), Heard(200, Truncated("?"))).standing is Standing.UNKNOWN
    assert found(calling.tools(case_of(), "x"), Heard(200, text="No.")).standing is Standing.SAME
    assert found(calling.tools(case_of(max_tools=0), "x"), NO).standing is Standing.SAME
    there = found(calling.tools(case_of(max_tools=0), "x"), Heard(200, calls=[CALL]))
    assert (there.standing, dict(there.overrides)) == (Standing.BETTER, {"max_tools": 128})
    case = case_of()
    forced = found(calling.tools(case, "x"), NO, Heard(200, calls=[CALL]))
    assert (forced.remark, case.must_force, dict(forced.overrides)) == (calling.ONLY_FORCED, True, {})
    none = found(calling.tools(case_of(), "x"), refused("does not support tools"), NO)
    assert (dict(none.overrides), none.remark) == (
        {"max_tools": 0},
        "this model cannot call tools; choose one that can",
    )


def test_one_call_at_a_time() -> None:
    two, one = Heard(200, calls=[CALL, CALL]), Heard(200, calls=[CALL])

    def found_with(parallel: str, *heard: Heard) -> tuple[Standing, dict[str, str]]:
        row = found(calling.parallel(case_of(parallel=parallel), "x"), *heard)
        return row.standing, dict(row.overrides)

    assert found_with("obey", two, one) == (Standing.SAME, {})
    assert found_with("omit", two, one) == (Standing.BETTER, {"parallel": "obey"})
    assert found_with("omit", one, one) == (Standing.SAME, {})
    assert found_with("omit", two, two) == (Standing.SAME, {})
    assert found_with("obey", one, Heard(200)) == (Standing.UNKNOWN, {})
    assert found_with("false", NO, one) == (Standing.SAME, {})


def test_calls_are_required_where_nothing_else_works() -> None:
    case = case_of(force_tool="auto")
    case.must_force = True
    question = next(calling.names(case, "x"))
    assert question.request.choice == calling.REQUIRED
    assert next(calling.names(case_of(force_tool="auto"), "x")).request.choice != calling.REQUIRED


def test_schemas() -> None:
    taken = found(calling.schemas(case_of(), "x"), W, U, N, W)
    assert taken.standing is Standing.SAME
    lost = found(calling.schemas(case_of(schema=["plain", "inline", "gemini", "bounded"]), "x"), R, R)
    assert (lost.standing, dict(lost.overrides)) == (Standing.WORSE, {})
    assert lost.seen == "refused: unions beside a type (so it is)"


def test_leaks() -> None:
    case = case_of()
    case.leaked = {"hermes"}
    row = found(calling.leaks(case, "x"))
    assert (row.standing, row.remark) == (Standing.SAME, "The proxy makes real calls of them.")


def test_calls_are_told_apart() -> None:
    case = case_of(call_identity="index", calls_in_other_choices=True, signed_calls=True)
    assert found(calling.numbering(case, "x")).seen == "by their index"
