from proxy.core.examination import forms
from proxy.core.examination.findings import Standing
from tests.support.courses import N, R, W, case_of, found, walked


def test_formats() -> None:
    row = found(forms.formats(case_of(), "x"), W, R)
    assert dict(row.overrides) == {"formats": frozenset({"json_schema"})}
    assert found(forms.formats(case_of(dialect="anthropic"), "x"), N).standing is Standing.WORSE


def test_beside_tools() -> None:
    assert walked(forms.beside_tools(case_of(formats=["json_object"]), "x"), []) is None
    row = found(forms.beside_tools(case_of(format_with_tools=False), "x"), W, W)
    assert (row.standing, dict(row.overrides)) == (Standing.BETTER, {"format_with_tools": True})
    assert found(forms.beside_tools(case_of(format_with_tools=False), "x"), W, N).standing is Standing.SAME
    unforced = found(forms.beside_tools(case_of(format_with_tools=False, force_tool="auto"), "x"), W)
    assert unforced.standing is Standing.BETTER
    row = found(forms.beside_tools(case_of(), "x"), W, N)
    assert (row.standing, dict(row.overrides)) == (Standing.WORSE, {"format_with_tools": False})
