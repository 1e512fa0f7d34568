"""What each generation of models takes."""

from proxy.core.dialects.anthropic.models import FOREIGN, NEWEST, TRAITS, traits_of
from tests.support.tables import table


@table(
    ("model", "row"),
    [
        ("claude-fable-5-1", "fable-5-1"),
        ("claude-mythos-5-2", "mythos-5-2"),
        ("claude-fable-5", "fable-5"),
        ("claude-mythos-5", "mythos-5"),
        ("claude-opus-5-5", "opus-5-5"),
        ("claude-sonnet-5-5-20261001", "sonnet-5-5"),
        ("claude-haiku-5-5", "haiku-5-5"),
        ("claude-opus-5-20260201", "opus-5"),
        ("claude-opus-5-latest", "opus-5"),
        ("claude-sonnet-5", "sonnet-5"),
        ("claude-opus-4-8", "opus-4-8"),
        ("claude-opus-4-7", "opus-4-7"),
        ("us.anthropic.claude-opus-4-6-v1:0", "opus-4-6"),
        ("anthropic/claude-sonnet-4.6", "sonnet-4-6"),
        ("claude-opus-4-5@20251101", "opus-4-5"),
        ("Claude-Sonnet-4-5", "sonnet-4-5"),
        ("claude-haiku-4-5", "haiku-4-5"),
        ("claude-opus-4-1-20250805", "opus-4-1"),
        ("claude-opus-4-20250514", "opus-4"),
        ("claude-sonnet-4-20250514", "sonnet-4"),
        ("claude-3-7-sonnet-latest", "3-7"),
        ("claude-3-5-haiku-20241022", "3-5"),
        ("claude-3-haiku-20240307", "3"),
    ],
)
def test_a_model_is_found_by_any_name_it_goes_by(model: str, row: str) -> None:
    assert traits_of(model).name == row


@table("model", ["claude-opus-5-6", "claude-fable-5-3", "claude-fable-6", "claude-something"])
def test_an_unknown_claude_is_taken_for_one_of_the_newest(model: str) -> None:
    assert traits_of(model) is NEWEST


def test_another_vendors_model_is_no_claude() -> None:
    assert traits_of("kimi-k2") is FOREIGN
    assert not FOREIGN.thinking


@table(
    ("model", "thinking", "unasked", "top", "samples", "forcing", "late_system", "formats", "most"),
    [
        ("fable-5-2", "adaptive", True, "max", False, "never", "yes", True, 128_000),
        ("fable-5", "adaptive", True, "max", False, "always", "yes", True, 128_000),
        ("opus-5-5", "adaptive", True, "max", False, "never", "yes", True, 128_000),
        ("sonnet-5-5", "adaptive between_tools", True, "max", False, "never", "yes", True, 128_000),
        ("haiku-5-5", "adaptive disabled", True, "max", False, "always", "not_after_results", True, 128_000),
        ("opus-5", "adaptive disabled", True, "max", False, "always", "yes", True, 128_000),
        ("sonnet-5", "adaptive disabled", True, "max", False, "always", "no", True, 128_000),
        ("opus-4-8", "adaptive disabled", False, "max", False, "always", "yes", True, 128_000),
        ("opus-4-7", "adaptive disabled", False, "max", False, "always", "no", True, 128_000),
        ("opus-4-6", "adaptive disabled enabled", False, "max", True, "unless_enabled", "no", True, 128_000),
        ("opus-4-5", "disabled enabled", False, "high", True, "unless_enabled", "no", True, 64_000),
        ("haiku-4-5", "disabled enabled", False, None, True, "unless_enabled", "no", True, 64_000),
        ("opus-4", "disabled enabled", False, None, True, "unless_enabled", "no", False, 32_000),
        ("3", "", False, None, True, "unless_enabled", "no", False, 4_096),
    ],
)
def test_each_row(
    model: str,
    thinking: str,
    unasked: bool,
    top: str | None,
    samples: bool,
    forcing: str,
    late_system: str,
    formats: bool,
    most: int,
) -> None:
    row = traits_of(f"claude-{model}")
    assert " ".join(sorted(row.thinking)) == thinking
    assert (row.efforts[-1] if row.efforts else None) == top
    assert (row.thinks_unasked, row.samples, row.forcing) == (unasked, samples, forcing)
    assert (row.late_system, row.formats, row.max_tokens) == (late_system, formats, most)


def test_4_6_has_no_xhigh() -> None:
    assert "xhigh" not in traits_of("claude-opus-4-6").efforts


def test_no_row_stands_twice() -> None:
    assert len({row.name for row in TRAITS}) == len(TRAITS)


@table(
    ("model", "wanted", "limit"),
    [
        ("claude-opus-5-5", None, 128_000),
        ("claude-opus-5-5", 100, 100),
        ("claude-opus-4-5", 100_000, 64_000),
        ("kimi-k2", None, 4_096),
        ("kimi-k2", 100_000, 100_000),
    ],
)
def test_the_limit_is_never_above_what_is_known_to_be_refused(
    model: str, wanted: int | None, limit: int
) -> None:
    assert traits_of(model).limit(wanted) == limit
