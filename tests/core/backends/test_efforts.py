"""Seven words into fewer: each is told, and none stronger than it is meant."""

from proxy.core.backends.efforts import THINKING_SWITCH, THREE_LEVELS, efforts

WORDS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def test_five_levels_for_seven_words() -> None:
    told = efforts("0", "1", "2", "3", "4")
    assert [told[word] for word in WORDS] == ["0", "1", "2", "3", "3", "4", "4"]


def test_a_switch_is_off_for_none_alone() -> None:
    assert [word for word in WORDS if THINKING_SWITCH[word] == "disabled"] == ["none"]


def test_what_lies_beyond_three_levels_is_told_as_the_nearest() -> None:
    assert THREE_LEVELS == {"minimal": "low", "xhigh": "high", "max": "high"}
