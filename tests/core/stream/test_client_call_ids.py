"""C06, N03: whose ids clients see."""

from proxy.core.ids import Mint
from proxy.core.stream.client_call_ids import MAX_CALL_ID, ClientCallIds
from tests.support.tables import table

MINTED = "call_" + "0" * 32


def ids(*taken: str, always_ours: bool = False) -> ClientCallIds:
    return ClientCallIds(Mint(lambda size: "0" * 2 * size), lambda: set(taken), always_ours)


@table("said", ["a", "call_1", "functions.x:0", "x" * MAX_CALL_ID])
def test_the_backends_own_where_clients_can_use_it(said: str) -> None:
    assert ids().take(said) == said


@table("said", [None, "", "taken", "a\nb", "x" * (MAX_CALL_ID + 1)])
def test_else_one_of_ours(said: str | None) -> None:
    assert ids("taken").take(said) == MINTED


def test_an_id_that_was_shown_is_taken() -> None:
    ids_of_a_reply = ids()
    assert (ids_of_a_reply.take("a"), ids_of_a_reply.take("a")) == ("a", MINTED)


def test_where_the_surface_promises_a_form_all_are_ours() -> None:
    assert ids(always_ours=True).take("call_1") == "call_" + "0" * 12 + "4" + "0" * 3 + "8" + "0" * 15
