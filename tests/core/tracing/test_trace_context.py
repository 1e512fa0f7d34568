"""The headers of traces: what of them is taken, and how they go on."""

import pytest
from multidict import CIMultiDict

from proxy.core.tracing.trace_context import MAX_STATE, Parent, header, parent_of, sent_with, state_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
WELL = f"00-{TRACE}-{SPAN}-01"
KNOWN = Parent(int(TRACE, 16), int(SPAN, 16), is_sampled=True)


def test_a_trace_goes_on() -> None:
    assert parent_of(WELL) == KNOWN
    assert parent_of(f"00-{TRACE}-{SPAN}-00") == Parent(KNOWN.trace_id, KNOWN.span_id, is_sampled=False)
    assert header(KNOWN.trace_id, KNOWN.span_id, is_sampled=True) == WELL
    assert header(1, 2, is_sampled=False) == f"00-{1:032x}-{2:016x}-00"


@pytest.mark.parametrize("flags", ["03", "ff", "09"])
def test_of_flags_only_the_known_one_counts(flags: str) -> None:
    assert parent_of(f"00-{TRACE}-{SPAN}-{flags}") == KNOWN


@pytest.mark.parametrize(
    "later", [f"01-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like"]
)
def test_a_later_version_is_read_as_far_as_it_is_known(later: str) -> None:
    assert parent_of(later) == KNOWN


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "00",
        WELL[:-1],
        f"{WELL}-more",
        f"{WELL} ",
        f" {WELL}",
        f"ff-{TRACE}-{SPAN}-01",
        f"01-{TRACE}-{SPAN}-01.",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        WELL.upper(),
        WELL.replace("-", "_"),
        WELL.replace("4", "g"),
        WELL.replace("4", "４"),
        f"00-{TRACE}-{SPAN}-0x",
        "-" * 55,
        "\x00" * 55,
        "0" * 100_000,
    ],
)
def test_whatever_else_it_is_counts_as_none(wrong: str) -> None:
    assert parent_of(wrong, "a=1") is None


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("", ""),
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (" a=1 ,\tb=2,, ", "a=1,b=2"),
        ("1tenant@system=a b", "1tenant@system=a b"),
        ("a=1,a=2", ""),
        ("A=1", ""),
        ("a", ""),
        ("=1", ""),
        ("a=", ""),
        ("a=1=2", ""),
        ("a=é", ""),
        ("a=1\r\nX: y", ""),
        ("_a=1", ""),
        ("a b=1", ""),
        (f"{'a' * 257}=1", ""),
        (f"a={'1' * 257}", ""),
        (",".join(f"a{number}=1" for number in range(32)), ",".join(f"a{number}=1" for number in range(32))),
        (",".join(f"a{number}=1" for number in range(33)), ""),
        (f"a={'1' * 250},b={'1' * 250},c={'1' * 20}", ""),
        ("," * (MAX_STATE + 1), ""),
    ],
)
def test_what_other_systems_want_to_be_told_is_passed_on_whole_or_not_at_all(sent: str, kept: str) -> None:
    assert state_of(sent) == kept
    assert parent_of(WELL, sent) == Parent(KNOWN.trace_id, KNOWN.span_id, is_sampled=True, state=kept)


def test_a_header_that_must_come_once_and_comes_twice_is_none() -> None:
    several = CIMultiDict([("Traceparent", WELL), ("Tracestate", "a=1"), ("tracestate", "b=2")])
    assert sent_with(several) == (WELL, "a=1,b=2")
    several.add("traceparent", WELL)
    assert sent_with(several) == ("", "a=1,b=2")
    assert sent_with(CIMultiDict()) == ("", "")
    assert sent_with({"traceparent": WELL}) == (WELL, "")
