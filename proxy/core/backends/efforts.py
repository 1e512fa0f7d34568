"""The seven words that clients have for reasoning effort, in those of vendors that know fewer."""


def efforts(
    none: str | None, minimal: str | None, low: str | None, high: str, top: str
) -> dict[str, str | None]:
    """Gives five levels for the seven words in use: medium thinks as `high` does, `top` is what lies beyond high."""
    return {
        "none": none, "minimal": minimal, "low": low, "medium": high, "high": high, "xhigh": top, "max": top,
    }  # fmt: skip


THINKING_SWITCH = efforts("disabled", "enabled", "enabled", "enabled", "enabled")
"""Serves backends whose thinking is only on or off."""
THREE_LEVELS = {"minimal": "low", "xhigh": "high", "max": "high"}
"""Serves backends that know low, medium and high."""
