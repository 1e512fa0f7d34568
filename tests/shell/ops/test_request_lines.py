"""One request as one line for people."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.shell.ops.request_lines import LONGEST_NAME, RequestLines


def remarks(fields: Any) -> Iterator[str]:
    yield from fields.get("remarks", ())


def line(*, colors: bool = False, **fields: Any) -> str:
    return RequestLines(remarks, colors=colors, arrow="->").line({"timestamp": "12:00:00", **fields})


def test_it_tells_who_was_asked_what_it_cost_and_how_it_ended() -> None:
    assert line(
        model="gpt-5",
        backend="vllm",
        backend_model="qwen3",
        attempts=1,
        status=200,
        input_tokens=812,
        cached_tokens=128,
        output_tokens=240,
        ms_first_text=210.4,
        ms_total=3421.9,
        ending="completed",
        calls=2,
        remarks=["the backend said it twice"],
    ) == (
        "12:00:00  gpt-5 -> vllm/qwen3  812 in (128 cached), 240 out  first word 210 ms  3.4 s in all  "
        "completed, 2 calls  (the backend said it twice)"
    )


def test_it_tells_less_where_less_is_known() -> None:
    assert line() == "12:00:00  -  answered"
    assert line(model="m", backend="b", backend_model="m", calls=1, ending="completed") == (
        "12:00:00  m -> b  completed, 1 call"
    )
    assert line(model="m", output_tokens=3, ms_total=4) == "12:00:00  m  ? in, 3 out  4 ms in all  answered"


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"status": 499, "ending": "completed"}, "the client left"),
        ({"ending": "max_tokens"}, "cut at the limit of tokens"),
        ({"ending": "filtered"}, "stopped by a content filter"),
        (
            {"status": 502, "fault": "BackendFault", "code": "bad_gateway", "error": "No answer.", "cause": "OSError"},
            "502 bad_gateway: No answer. (OSError) [-]",
        ),
        (
            {"status": 500, "fault": "ProxyFault", "cause": "KeyError"},
            "500 ProxyFault: KeyError [-]",
        ),
        (
            {"status": 400, "fault": "ClientFault", "code": "invalid_type", "param": "tools[0].parameters"},
            "400 invalid_type at tools[0].parameters [-]",
        ),
        ({"status": 500, "fault": "Fault", "request_id": "req_1"}, "500 Fault [req_1]"),
        ({"attempts": 2, "backend": "b", "ending": "failed"}, "failed"),
        ({"results_cut": 3, "ending": "completed"}, "completed  (3 × tool outputs shortened)"),
    ],
)  # fmt: skip
def test_each_end_has_its_words(fields: dict[str, Any], end: str) -> None:
    assert line(**fields).endswith(f"  {end}")


def test_more_than_one_attempt_is_told() -> None:
    assert "m -> b (3 attempts)" in line(model="m", backend="b", attempts=3)


@pytest.mark.parametrize(
    ("fields", "color"),
    [
        ({"ending": "completed"}, "32"),
        ({"status": 499}, "33"),
        ({"ending": "failed"}, "31"),
        ({"fault": "Fault"}, "31"),
    ],
)
def test_a_terminal_shows_the_end_in_a_colour(fields: dict[str, Any], color: str) -> None:
    painted = line(colors=True, remarks=["odd"], **fields)
    assert f"\x1b[{color}m" in painted
    assert painted.count("\x1b[") == painted.count("\x1b[0m") * 2


def test_a_line_is_one_line_and_not_too_long() -> None:
    told = line(model="m" * 1000, backend="b\nb", fault="Fault", error="w" * 1000)
    assert "\n" not in told
    assert len(told) < 400
    assert f"{'m' * (LONGEST_NAME - 1)}… -> b b" in told
