"""Field `call_id`: ids of any client in the form of any backend, the same in every request."""

import re
from typing import get_args

from proxy.core.dialects.writing.call_ids import CallIds
from proxy.core.profile import CallIdForm
from tests.support.tables import table

FORMS: tuple[CallIdForm, ...] = get_args(CallIdForm)


@table(
    ("form", "call_id"),
    [
        ("any", "functions.shell:0"),
        ("any", "x" * 300),
        ("any", "ü 1"),
        ("len40", "functions.shell:0"),
        ("len40", "call_" + "0" * 35),
        ("alnum9", "aB3dE6gH9"),
        ("word", "toolu_01A-b" + "0" * 53),
    ],
)
def test_an_id_that_fits_stays(form: CallIdForm, call_id: str) -> None:
    assert CallIds(form).upstream(call_id) == call_id


@table(
    ("form", "call_id", "upstream"),
    [
        ("any", "", r"call_[0-9a-f]{32}"),
        ("len40", "x" * 41, r"call_[0-9a-f]{32}"),
        ("len40", "ü", r"call_[0-9a-f]{32}"),
        ("alnum9", "call_1", r"[A-Za-z0-9]{9}"),
        ("alnum9", "\ud800", r"[A-Za-z0-9]{9}"),
        ("word", "functions.shell:0", r"call_[0-9a-f]{32}"),
        ("word", "0" * 65, r"call_[0-9a-f]{32}"),
    ],
)
def test_another_gets_a_substitute_that_is_always_the_same(
    form: CallIdForm, call_id: str, upstream: str
) -> None:
    ids = CallIds(form)
    made = ids.upstream(call_id)
    assert re.fullmatch(upstream, made)
    assert ids.upstream(call_id) == CallIds(form).upstream(call_id) == made


@table("form", FORMS)
def test_an_id_that_looks_like_the_substitute_of_another_is_told_apart(form: CallIdForm) -> None:
    taken = CallIds(form).upstream("")
    ids = CallIds(form)
    assert ids.upstream("") == taken
    assert ids.upstream(taken) != taken


def test_a_substitute_that_is_taken_gives_way_to_the_next() -> None:
    taken = CallIds("alnum9").upstream("call_1")
    ids = CallIds("alnum9")
    assert ids.upstream(taken) == taken
    assert ids.upstream("call_1") not in ("call_1", taken)
