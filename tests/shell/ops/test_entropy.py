"""C06: ids come from a cryptographic source, and none comes twice."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.core.ids import RANDOM_BYTES
from proxy.shell.ops.entropy import AT_A_TIME, Entropy


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """They take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def taken(entropy: Entropy, times: int) -> list[str]:
    return [entropy.token_hex(RANDOM_BYTES) for _ in range(times)]


def test_c06_a_token_has_two_digits_for_each_byte_and_none_is_given_twice() -> None:
    tokens = taken(Entropy(), 3 * AT_A_TIME + 1)
    assert {len(bytes.fromhex(token)) for token in tokens} == {RANDOM_BYTES}
    assert len(set(tokens)) == len(tokens)


@pytest.mark.usefixtures("hasty_threads")
def test_c06_threads_share_a_source_and_never_a_token() -> None:
    """Large requests are read in threads of their own."""
    entropy = Entropy()
    with ThreadPoolExecutor(8) as pool:
        tokens = [token for some in pool.map(lambda _: taken(entropy, 2000), range(8)) for token in some]
    assert len(set(tokens)) == len(tokens) == 16_000


def test_c06_other_sizes_are_had_too() -> None:
    entropy = Entropy()
    assert [len(entropy.token_hex(size)) for size in (0, 1, 8, 4096)] == [0, 2, 16, 8192]


def test_c06_two_sources_have_nothing_in_common() -> None:
    assert not {*taken(Entropy(), AT_A_TIME)} & {*taken(Entropy(), AT_A_TIME)}
