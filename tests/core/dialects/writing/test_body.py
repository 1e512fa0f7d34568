"""What the client wishes, what of it is known, and the profile's last word on the body."""

from typing import Any

from proxy.core.dialects.writing.body import granted, hints, patched, tuning_wishes, unusual_tier
from proxy.core.ledger import Ledger
from proxy.core.model import Request, Sampling
from tests.support.tables import table


@table(
    ("body", "patch", "expected", "dropped"),
    [
        ({"a": 1}, {}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2, "b": [3]}, {"a": 2, "b": [3]}, {}),
        ({"a": 1, "b": 2}, {"a": None, "c": None}, {"b": 2}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}, {"b": 1}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}, {}),
    ],
)
def test_a_profiles_patch_is_laid_over_the_body(
    body: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any], dropped: dict[str, int]
) -> None:
    ledger = Ledger()
    assert patched(body, patch, ledger) == expected
    assert ledger.dropped == dropped


KEY = {"prompt_cache_key": "k"}
LABELS = ("prompt_cache_key", "safety_identifier")


@table(
    ("request_fields", "known", "told", "dropped"),
    [
        ({}, LABELS, {}, {}),
        ({"cache": KEY, "user": "u"}, LABELS, KEY | {"safety_identifier": "u"}, {}),
        ({"cache": KEY}, LABELS, KEY, {}),
        ({"cache": KEY, "user": "u"}, (), {}, {}),
        ({"user": "u" * 65}, LABELS, {}, {"user": 1}),
    ],
)
def test_labels_go_to_who_knows_them(
    request_fields: dict[str, Any], known: tuple[str, ...], told: dict[str, str], dropped: dict[str, int]
) -> None:
    ledger = Ledger()
    assert hints(Request("m", [], **request_fields), known, ledger) == told
    assert ledger.dropped == dropped


@table(("wanted", "told"), [(None, None), ("auto", None), ("default", None), ("flex", "flex")])
def test_the_usual_tier_need_not_be_asked_for(wanted: str | None, told: str | None) -> None:
    assert unusual_tier(Request("m", [], service_tier=wanted)) == told


def test_who_wishes_nothing_has_no_wishes() -> None:
    assert tuning_wishes(Request("m", [])) == {}


@table(
    ("sampling", "wished"),
    [
        (Sampling(temperature=0.0), {"temperature": 0.0}),
        (Sampling(presence_penalty=0.0, frequency_penalty=0.0, stop=[]), {}),
        (Sampling(top_logprobs=2), {"logprobs": True, "top_logprobs": 2}),
        (Sampling(seed=0, top_p=0.5), {"seed": 0, "top_p": 0.5}),
    ],
)
def test_wishes(sampling: Sampling, wished: dict[str, Any]) -> None:
    wishes = tuning_wishes(Request("m", [], sampling=sampling))
    assert {name: value for name, value in wishes.items() if value is not None} == wished


def test_only_known_wishes_are_granted() -> None:
    ledger = Ledger()
    assert granted({"seed": 0, "stop": None, "top_p": 1.0}, {"seed", "stop"}, ledger) == {"seed": 0}
    assert ledger.dropped == {"top_p": 1}
