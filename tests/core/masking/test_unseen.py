"""S15: what a terminal obeys, what turns a line around and what hides a text is known, as Unicode has it."""

import sys
import unicodedata

from proxy.core import jsontext
from proxy.core.masking.unseen import UNSEEN, visible
from tests.support.tables import table

OF_NO_SHAPE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_attack_29_all_that_unicode_calls_a_control_a_format_or_a_line_is_unseen() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    assert not [
        ascii(character)
        for character in every
        if unicodedata.category(character) in OF_NO_SHAPE and not UNSEEN.match(character)
    ]


@table("character", ["\u3164", "\ufe0f", "\U000e0100", "\u034f", "\U000e0001", "\U000e0041"])
def test_fillers_selectors_and_tags_are_too(character: str) -> None:
    assert UNSEEN.match(character)


@table(
    "text",
    [
        "The quick brown fox 0-9 ~",
        "Ünïcödé ßøœ",
        "日本語のテキスト",
        "עברית ‏".strip("\u200f"),
        "العربية",
        "हिन्दी",
        "👍🏽🎉",
        "한국어",
        "a\u0301",
    ],
)
def test_what_people_write_is_seen(text: str) -> None:
    assert not UNSEEN.search(text)


@table("text", ["a\x1b[2Jb", "\x9b\u202e\x7f", "\U000e0041\ufe0f\u3164", "plain", "Ünïcödé"])
def test_s15_what_is_unseen_is_written_as_json_escapes_it(text: str) -> None:
    line = visible(jsontext.compact({text: text}))
    assert UNSEEN.search(line) is None
    assert jsontext.strict(line) == {text: text}
    assert visible(visible(text)) == visible(text)
