"""N03: the proxy's call ids and the backend's, both ways, within bounds."""

from hashlib import sha256

import pytest

from proxy.core.model import Call, Reasoning, Request, Result, Role, ToolKind, ToolName
from proxy.core.surfaces.memory import call_ids
from proxy.core.surfaces.memory.call_ids import (
    MAX_CALLS,
    MAX_ID,
    MAX_TOKEN_IN_HEADER,
    CallMap,
    CallMaps,
    as_backend_knows,
    memos_of,
)
from proxy.core.surfaces.memory.tokens import TokenSigner
from tests.support.chat_asks import SIGNER
from tests.support.tables import table


def mapped(*pairs):
    made = CallMap(SIGNER)
    for ours, backends in pairs:
        made.note(ours, backends)
    return made


def test_both_ways():
    both = mapped(("a", "x"), ("b", "y"))
    assert (both.backends("a"), both.ours("y")) == ("x", "b")
    assert (both.backends("x"), both.ours("a")) == (None, None)
    assert (both.has("a"), both.has("x")) == (True, False)


@table("backends", [None, "", "x" * (MAX_ID + 1)])
def test_where_the_backend_has_no_id_of_use_ours_stands(backends):
    assert mapped(("a", backends)).backends("a") == "a"


def test_an_id_that_a_backend_repeats_is_the_newest_calls():
    twice = mapped(("a", "call_0"), ("b", "call_0"))
    assert (twice.backends("a"), twice.backends("b"), twice.ours("call_0")) == ("call_0", "call_0", "b")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(call_ids, "MAX_CALLS", 2)


@pytest.mark.usefixtures("small")
def test_the_oldest_call_is_forgotten_and_that_remembered():
    """From then on an unknown id may be one of them, and is nobody's mistake."""
    full = mapped(("a", "x"), ("b", "call_0"))
    assert not full.has("z")
    full.note("c", "call_0")
    assert (full.backends("a"), full.ours("x")) == (None, None)
    assert full.has("a")
    full.note("d", "w")
    assert full.ours("call_0") == "c", "what the newer call has is not forgotten with the older one"
    again = CallMap(SIGNER)
    assert again.learn(full.token())
    assert again.has("a")


def test_a_token_holds_the_whole_map():
    again = CallMap(SIGNER)
    assert again.learn(mapped(("a", "x"), ("b", "y")).token())
    assert (again.backends("a"), again.ours("y"), again.has("z")) == ("x", "b", False)


@table(
    "token",
    ["", "nonsense", SIGNER.summary("x"), TokenSigner("another").call_ids({"ids": {}, "forgetful": False})],
)
def test_what_is_not_ours_teaches_nothing(token):
    assert CallMap(SIGNER).learn(token) is False


@pytest.fixture
def mint_hex():
    drawn = iter(range(10**6))
    return lambda size: sha256(str(next(drawn)).encode()).hexdigest()[: 2 * size]


def test_the_token_of_sixty_calls_fits_into_a_header(mint_hex):
    """As long as ids usually are."""
    usual = mapped(*((f"call_{mint_hex(16)}", f"call_{mint_hex(12)}") for _ in range(60)))
    assert len(usual.token()) <= MAX_TOKEN_IN_HEADER
    assert len(mapped(*((f"call_{mint_hex(16)}", mint_hex(12)) for _ in range(MAX_CALLS))).token()) < 64_000


def test_a_conversation_has_one_map():
    maps = CallMaps(SIGNER)
    kept = mapped(("a", "x"))
    maps.keep("ann", "t", "c", kept)
    assert maps.of("t", "c") is kept
    assert not maps.of("u", "c").has("a")
    assert maps.fresh("") is not maps.fresh("")


def test_attack_15_what_is_only_named_is_not_kept():
    maps = CallMaps(SIGNER)
    assert maps.of("t", "c") is not maps.of("t", "c")
    empty = maps.of("t", "c")
    maps.keep("ann", "t", "c", empty)
    assert maps.of("t", "c") is not empty


def test_attack_15_nobodys_conversations_make_another_forget(monkeypatch):
    monkeypatch.setattr(call_ids, "MAX_BYTES", 10 * mapped(("a", "x")).size)
    maps = CallMaps(SIGNER)
    maps.keep("ann", "t", "c", mapped(("a", "x")))
    for number in range(20):
        maps.keep("bob", "u", str(number), mapped(("a", "x")))
    assert maps.of("t", "c").has("a")
    assert maps.of("u", "19").has("a")
    assert not maps.of("u", "0").has("a")


def test_two_requests_of_a_new_conversation_may_be_under_way():
    """Neither knew of the other's map when it was read."""
    maps = CallMaps(SIGNER)
    maps.keep("ann", "t", "c", mapped(("a", "x")))
    maps.keep("ann", "t", "c", mapped(("b", "y")))
    both = maps.of("t", "c")
    assert (both.backends("a"), both.backends("b"), both.has("z")) == ("x", "y", False)


def test_a_map_that_outgrows_all_room_is_not_kept(monkeypatch):
    monkeypatch.setattr(call_ids, "MAX_BYTES", 10)
    maps = CallMaps(SIGNER)
    maps.keep("ann", "t", "c", mapped(("a", "x")))
    assert not maps.of("t", "c").has("a")


def test_u57_what_is_not_known_here_is_asked_of_others():
    maps = CallMaps(SIGNER)
    keys = maps.lacking("t", "c", ["a", "b"])
    assert len(set(keys)) == 2
    maps.keep("ann", "t", "c", mapped(("a", "x")))
    assert maps.lacking("t", "c", ["a", "b"]) == keys[1:]
    assert maps.lacking("u", "c", ["a", "b"]) == keys
    assert not set(keys) & set(maps.lacking("t", "d", ["a", "b"]))
    assert len(maps.lacking("t", "c", [str(number) for number in range(2 * MAX_CALLS)])) == MAX_CALLS


def test_u57_what_others_have_told_is_in_the_map():
    told = memos_of("c", mapped(("a", "x"), ("b", None)), ["a", "b"])
    assert list(told) == CallMaps(SIGNER).lacking("t", "c", ["a", "b"])
    learned = CallMap(SIGNER)
    learned.learn_from([*told.values(), b"damaged"])
    assert [(learned.knows(ours), learned.backends(ours)) for ours in "abc"] == [
        (True, "x"),
        (True, "b"),
        (False, None),
    ]


def request(*calls):
    said = [Call(ours, ToolName("f"), ToolKind.FUNCTION, "{}", backends) for ours, backends in calls]
    results = [Result(ours, ["x"]) for ours, _ in calls]
    return Request("m", [(Role.USER, ["Hi"]), (Role.ASSISTANT, [*said]), (Role.TOOL, [*results])])


@table(
    ("calls", "ids"),
    [
        ([("a", "x"), ("b", None), ("c", "z")], ["x", "b", "z"]),
        ([("a", "call_0"), ("b", "call_0")], ["call_0", "b"]),
        ([("a", "b"), ("b", "y")], ["a", "y"]),
    ],
)
def test_a_backend_hears_its_own_ids(calls, ids):
    """Where they still tell the calls apart."""
    _, said, results = as_backend_knows(request(*calls)).turns
    assert [part.call_id for part in said[1]] == ids
    assert [part.call_id for part in results[1]] == ids


def test_a_request_without_them_stays_the_same_object():
    plain = request(("a", None), ("b", ""))
    assert as_backend_knows(plain) is plain


def test_what_the_backend_put_beside_a_call_speaks_of_it_by_the_same_id():
    kept = {"chat": {"proofs": [{"id": "a", "extra_content": 1}]}, "google": {"signatures": [{"x": 1}]}}
    asked = request(("a", "x"))
    asked.turns[1][1].insert(0, Reasoning("", kept))
    (thought, _) = as_backend_knows(asked).turns[1][1]
    assert thought.extras == kept | {"chat": {"proofs": [{"id": "x", "extra_content": 1}]}}
