"""Attack 19: secrets that we know are found in what others say, in the forms in which programs repeat them."""

from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote, quote_plus

import pytest

from proxy.core import jsontext
from proxy.core.masking.redact import MASK
from proxy.core.masking.secrets import LEAST_CUT, PART, Secrets
from tests.support.tables import table

KEY = "7f3a9c5be1d84402a6f0"
ODD = 'p"ä/ss<w>o+rd & möre='


def in_base64(key: str) -> list[str]:
    return [
        b64encode(f"{user}{key}{end}".encode()).decode()
        for user in ("", ":", "u:", "us:", "use:", "user:")
        for end in ("", ":", "!!")
    ]


@table("key", [KEY, ODD])
def test_attack_19_it_is_found_in_every_form_that_programs_give_it(key: str) -> None:
    secrets = Secrets([key])
    forms = [
        key,
        f"Bearer {key}",
        quote(key),
        quote(key, safe=""),
        quote_plus(key).lower() if key == KEY else quote(key, safe="").lower(),
        jsontext.compact(key),
        repr(key),
        escape(key),
        *in_base64(key),
        urlsafe_b64encode(key.encode()).decode(),
    ]
    for form in forms:
        told = secrets.hidden(f"Quota exceeded for credential {form} on this project")
        assert MASK in told, form
        assert told.startswith("Quota exceeded for credential ")
        assert told.endswith(" on this project")
        for at in range(len(form) - PART + 1):
            assert form[at : at + PART] not in told, (form, told)


def test_attack_19_a_part_of_it_is_found() -> None:
    secrets = Secrets([KEY])
    for at in range(len(KEY) - PART + 1):
        assert secrets.hidden(f"key {KEY[at : at + PART]}.") == f"key {MASK}."
    assert secrets.hidden(KEY[:PART] + "*" + KEY[-PART:]) == f"{MASK}*{MASK}"
    assert secrets.hidden(f"{KEY[:PART]}") == MASK


@table("length", range(LEAST_CUT, len(KEY) + 1))
def test_attack_19_what_a_cut_has_left_of_it_is_found(length: int) -> None:
    """We cut what others say before we know whose it is."""
    assert Secrets([KEY]).hidden(f"the key {KEY[:length]}… is wrong.") == f"the key {MASK}… is wrong."


def test_what_stands_elsewhere_than_at_a_cut_may_begin_as_a_secret_does() -> None:
    assert Secrets([KEY]).hidden(f"{KEY[:LEAST_CUT]} and … {KEY[: PART - 1]}") == (
        f"{KEY[:LEAST_CUT]} and … {KEY[: PART - 1]}"
    )


@table(
    ("header", "secret"),
    [
        (f"Bearer {KEY}", KEY),
        (f"token   {KEY}", KEY),
        (f"Basic {b64encode(f'user:{KEY}'.encode()).decode()}", KEY),
        (f"Basic {b64encode(f'user:{KEY}'.encode()).decode().rstrip('=')}", f"user:{KEY}"),
        ("Basic no base64 at all", "no base64 at all"),
        (f"Basic {b64encode(b'user').decode()}", "user"),
    ],
)
def test_attack_19_the_secret_inside_of_a_headers_value_is_found(header: str, secret: str) -> None:
    secrets = Secrets([header])
    assert header not in secrets.hidden(f"refused: {header}.")
    if len(secret) > PART:
        assert secrets.hidden(f"refused: {secret}.") == f"refused: {MASK}."


@pytest.mark.parametrize("words", [[], [""], ["x"], ["EMPTY"]])
def test_a_key_that_is_none_does_not_eat_words(words: list[str]) -> None:
    """Local servers take any key, so people write one letter."""
    assert Secrets(words).hidden("next EMPTY …") == "next EMPTY …"


def test_a_key_made_of_words_does_not_eat_them() -> None:
    said = "model is required: no such key… try again"
    assert Secrets(["sk-no-key-required"]).hidden(said) == said


def test_several_are_found_and_the_rest_stays() -> None:
    secrets = Secrets([KEY, "correct horse", "abcdef"])
    told = secrets.hidden(f"{KEY}{KEY} and correct horse, abcdef: correct battery")
    assert told == f"{MASK}{MASK} and {MASK}, {MASK}: correct battery"


@table("text", [KEY, f"a {KEY}.", f"a {KEY[3 : 3 + PART]} b"])
def test_where_it_stands_in_a_long_text(text: str) -> None:
    spans = Secrets([KEY]).spans(text)
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    assert text[first:last] in KEY
    assert last - first >= PART


def test_where_there_is_none_it_stands_nowhere() -> None:
    assert Secrets([KEY]).spans("nothing of it " * 100) == []
    assert Secrets([KEY]).spans(KEY[: PART - 1]) == []
    assert Secrets([]).spans(KEY) == []
