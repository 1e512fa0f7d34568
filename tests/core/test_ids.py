"""S25: ids are random bits behind a prefix that clients know; those of responses and items say where they belong."""

import re
from secrets import token_hex
from uuid import UUID

from proxy.core.ids import (
    RANDOM_BYTES,
    Mint,
    family_of,
    may_be_conversation,
    may_be_response,
    tail_of,
)
from tests.support.replies import counting_mint
from tests.support.tables import table


@table("prefix", ["call", "req"])
def test_an_id_that_nothing_is_found_by_is_a_prefix_and_32_hexadecimal_digits(prefix: str) -> None:
    """Codex gives back only ids of the form `prefix_suffix`, and call ids may have 64 characters."""
    made = Mint(token_hex).make(prefix)
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", made)
    assert len(made) <= 64


def test_c06_an_answer_of_the_chat_api_has_a_hyphen_in_its_id() -> None:
    assert re.fullmatch(r"chatcmpl-[0-9a-f]{32}", Mint(token_hex).completion())


def test_128_bits_are_asked_of_the_source() -> None:
    asked: list[int] = []
    Mint(lambda size: str(asked.append(size))).call()
    assert asked == [RANDOM_BYTES] == [128 // 8]


@table("kind", ["resp", "conv"])
def test_a_response_and_a_conversation_have_192_random_bits(kind: str) -> None:
    mint = Mint(token_hex)
    make = {"resp": mint.response, "conv": mint.conversation}[kind]
    made = [make() for _ in range(10)]
    assert all(re.fullmatch(rf"{kind}_[0-9a-f]{{48}}", each) for each in made)
    for part in (slice(0, 16), slice(16, 32), slice(32, 48)):
        assert len({each.removeprefix(f"{kind}_")[part] for each in made}) == 10
    ones, zeros = (int(Mint(lambda size, d=d: d * 2 * size).response()[5:], 16) for d in "f0")
    assert (ones ^ zeros).bit_count() == 192


INDEXES = [(0, "fc_{}00000"), (26, "fc_{}0001a"), (1 << 19, "fc_{}80000")]


@table(("index", "beginning"), INDEXES)
def test_v06_an_item_begins_with_its_index_and_cannot_be_guessed(index: int, beginning: str) -> None:
    mint = Mint(token_hex)
    response = mint.response()
    new = mint.items_of(response)
    for make, first in ((new.input, "0"), (new.output, "8")):
        made = {make("fc", index) for _ in range(10)}
        assert len(made) == 10
        form = rf"{beginning.format(first)}[0-9a-f]{{10}}{response[-32:]}"
        assert all(re.fullmatch(form, each) for each in made)


def test_v06_sorted_by_their_ids_the_items_of_a_response_are_in_order() -> None:
    mint = Mint(token_hex)
    new = mint.items_of(mint.response())
    made = [new.input("fc", index) for index in range(300)] + [
        new.output("fc", index) for index in range(300)
    ]
    assert made == sorted(made)


def test_a_family_is_inherited() -> None:
    mint = Mint(token_hex)
    first = mint.conversation()
    second = mint.response(family_of(first))
    third = mint.response(family_of(second))
    assert family_of(first) == family_of(second) == family_of(third) == first[-16:]
    assert len({tail_of(each) for each in (first, second, third)}) == 3
    assert family_of(mint.response()) != family_of(first)


def test_an_item_says_of_which_response_it_is() -> None:
    mint = Mint(token_hex)
    response = mint.response()
    new = mint.items_of(response)
    assert (
        tail_of(new.input("msg", 0)) == tail_of(new.output("ctco", 7)) == tail_of(response) == response[-32:]
    )


OURS = "0123456789abcdef" * 3


@table(
    "foreign",
    [
        "",
        "msg_",
        "msg_1",
        OURS[1:],
        f"msg_{OURS[1:]}",
        f"msg_{OURS}0",
        f"msg_{OURS.upper()}",
        f"msg_{OURS[1:]}-",
        f"msg_{OURS[2:]}٣٤",
        f"msg_{OURS[4:]}_abc",
        f"call_{OURS[:32]}",
    ],
)
def test_a_clients_own_id_says_nothing(foreign: str) -> None:
    assert tail_of(foreign) is family_of(foreign) is None


@table(
    ("id", "may_be"),
    [
        ("resp_1", True),
        (f"resp_{OURS}", True),
        ("resp_aB-9_z", True),
        (f"resp_{'a' * 123}", True),
        (f"resp_{'a' * 124}", False),
        ("", False),
        ("resp", False),
        ("msg_1", False),
        ("Resp_1", False),
        (" resp_1", False),
        ("resp_1 ", False),
        ("resp_1\n", False),
        ("resp_ä", False),
        ("resp_a/b", False),
        ("resp_a%2fb", False),
        ("resp_..", False),
    ],
)
def test_what_may_be_the_id_of_a_response_or_a_conversation(id: str, may_be: bool) -> None:
    assert may_be_response(id) is may_be
    assert may_be_conversation(id.replace("resp", "conv")) is may_be


def test_each_id_is_made_of_new_randomness() -> None:
    mint = Mint(token_hex)
    assert len({mint.call() for _ in range(100)}) == 100


def test_the_same_source_gives_the_same_ids() -> None:
    assert counting_mint().response() == counting_mint().response() == f"resp_{1:032x}{2:016x}"
    assert counting_mint().call() == f"call_{1:032x}"


def test_a_call_can_have_a_uuid_of_version_4() -> None:
    """N03, C06: `call_` and 32 hexadecimal digits, of which RFC 4122 fixes six bits."""
    for source in (token_hex, lambda size: "f" * 2 * size, lambda size: "0" * 2 * size):
        made = Mint(source).uuid_call()
        assert re.fullmatch(r"call_[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", made)
        assert UUID(made.removeprefix("call_")).version == 4


def test_all_other_bits_of_a_uuid_are_random() -> None:
    ones, zeros = (UUID(Mint(lambda size, d=d: d * 2 * size).uuid_call()[5:]).int for d in "f0")
    assert (ones ^ zeros).bit_count() == 128 - 6


def test_what_is_drawn_for_one_request_can_be_noted() -> None:
    noted: list[str] = []
    noting = counting_mint().noting(noted.append)
    made = noting.make("call"), noting.response()
    assert "".join(noted)[:32] in made[0]
    assert len(noted) == 3
