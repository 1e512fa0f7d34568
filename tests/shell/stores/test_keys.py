"""Keys: what an id of the proxy's own says, and what of a record can be found by an id."""

from dataclasses import replace

from proxy.core import jsontext
from proxy.core.stored.record import Record
from proxy.shell.stores.keys import as_list, foreign_ids, items_of, tail_of
from tests.support.stores import ids_of, item, record


def test_an_item_names_its_response() -> None:
    kept = record()
    assert {tail_of(id) for id in (kept.id, *ids_of(kept))} == {kept.id[-32:]}


def test_an_id_that_a_client_made_up_is_its_own_key() -> None:
    made_up = ["x", "", "msg_1", "msg_" + "g" * 48, "resp_" + "0" * 47]
    assert [tail_of(id) for id in made_up] == made_up


def test_items_by_their_ids() -> None:
    kept = record(foreign=("mine",))
    found = items_of(kept)
    assert list(found) == ids_of(kept)
    assert jsontext.loads(as_list(found.values())) == jsontext.loads(kept.input) + jsontext.loads(kept.output)


def foreign_in(kept: Record) -> list[str]:
    return foreign_ids(tail_of(kept.id), kept)


def test_ids_that_do_not_name_the_record() -> None:
    assert foreign_in(record()) == []
    other = ids_of(record())[0]
    assert foreign_in(record(foreign=("mine", other))) == ["mine", other]


def test_what_ends_like_an_id_hides_none() -> None:
    """An id within an item counts too, so that each is looked at."""
    kept = record(inputs=1, outputs=0)
    tail = tail_of(kept.id)
    for piece in (item("mine", f"by {tail}"), item("mine", "x") | {"note": tail, "id": "mine"}):
        mixed = replace(kept, input=jsontext.dumps([piece, *jsontext.loads(kept.input)]))
        found = foreign_in(mixed)
        assert found == ["mine"], piece
    inside = replace(kept, input=jsontext.dumps([{**jsontext.loads(kept.input)[0], "action": {"id": "x"}}]))
    assert foreign_in(inside) == []


def test_of_two_items_with_one_id_the_first() -> None:
    twice = record(inputs=0, outputs=0, foreign=("mine", "mine"))
    assert jsontext.loads(items_of(twice)["mine"]) == item("mine", "text mine")
    assert as_list([]) == b"[]"
