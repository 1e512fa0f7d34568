from proxy.core.examination import report
from proxy.core.examination.findings import ReportRow, Standing

ROWS = [
    ReportRow("text", "works", "works", Standing.SAME),
    ReportRow(
        "images",
        "by address refused; within the request refused (HTTP 400: this model sees no images at all)",
        "within the request",
        Standing.WORSE,
        {"images": "none"},
        "The proxy learns this from the refusal.",
    ),
    ReportRow("options", "taken", "a, " * 20, Standing.BETTER),
    ReportRow("overflow", "not asked", "", Standing.UNKNOWN),
    ReportRow("unknown model", "", ""),
]


def test_a_table() -> None:
    lines = list(report.table(ROWS))
    assert lines[0].split() == ["seen", "assumed"]
    assert lines[1].split() == ["ok", "text", "works", "works"]
    assert lines[2].startswith("WORSE  images ")
    assert "→ The proxy learns this from the refusal." in "\n".join(lines)
    assert max(map(len, lines)) <= 120
    assert lines[-1] == "       unknown model"


def test_fields_as_files_hold_them() -> None:
    assert report.plain(frozenset({"b", "a"})) == ["a", "b"]
    assert report.plain({"max": "high", "none": None}) == {"max": "high"}
    assert report.plain(True) is True


def test_data() -> None:
    assert report.as_data(ROWS[1]) == {
        "aspect": "images",
        "seen": ROWS[1].seen,
        "assumed": "within the request",
        "standing": "worse",
        "overrides": {"images": "none"},
        "remark": "The proxy learns this from the refusal.",
    }


def test_a_summary() -> None:
    assert report.summary(ROWS) == "1 as assumed; 1 worse (images); 1 better (options); 1 unknown"
    assert report.summary(ROWS[:1]) == "1 as assumed"
