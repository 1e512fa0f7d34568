"""S25: ids are 128 random bits behind a prefix that clients know."""

import re
from secrets import token_hex
from uuid import UUID

from proxy.core.ids import RANDOM_BYTES, Mint
from tests.support.replies import counting_mint
from tests.support.tables import table


@table("prefix", ["resp", "msg", "fc", "call"])
def test_an_id_is_a_prefix_and_32_hexadecimal_digits(prefix: str) -> None:
    """Codex gives back only ids of the form `prefix_suffix`, and call ids may have 64 characters."""
    made = Mint(token_hex).make(prefix)
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", made)
    assert len(made) <= 64


def test_c06_an_answer_of_the_chat_api_has_a_hyphen_in_its_id() -> None:
    assert re.fullmatch(r"chatcmpl-[0-9a-f]{32}", Mint(token_hex).completion())


def test_128_bits_are_asked_of_the_source() -> None:
    asked: list[int] = []
    Mint(lambda size: str(asked.append(size))).response()
    assert asked == [RANDOM_BYTES] == [128 // 8]


@table(("place", "beginning"), [(0, "fc_000000"), (26, "fc_00001a"), (1 << 20, "fc_100000")])
def test_v06_an_item_begins_with_its_place_and_cannot_be_guessed(place: int, beginning: str) -> None:
    mint = Mint(token_hex)
    made = {mint.item("fc", place) for _ in range(10)}
    assert len(made) == 10
    assert all(re.fullmatch(rf"{beginning}[0-9a-f]{{26}}", each) for each in made)


def test_each_id_is_made_of_new_randomness() -> None:
    mint = Mint(token_hex)
    assert len({mint.call() for _ in range(100)}) == 100


def test_the_same_source_gives_the_same_ids() -> None:
    assert counting_mint().response() == counting_mint().response() == f"resp_{1:032x}"
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
