from proxy.core.examination.findings import Answer, Verdict, written


def test_values_are_written_for_people() -> None:
    assert [written(value) for value in (True, False, None, frozenset(), frozenset("ba"), "x", 3)] == [
        "yes",
        "no",
        "none",
        "none",
        "a, b",
        "x",
        "3",
    ]


def test_verdicts() -> None:
    assert [Answer(verdict).works for verdict in Verdict] == [True, False, False, False]
    assert [Answer(verdict).fails for verdict in Verdict] == [False, True, True, False]
