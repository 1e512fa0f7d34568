"""Every code of a fault has words, and every word a code."""

from proxy.core.inspected.fault_words import FAULTS, Side, fault_words
from proxy.shell.ops.fault_codes import CODES
from tests.support.tables import table


def test_every_code_has_words() -> None:
    assert set(FAULTS) == CODES


@table(
    "code, fault, side",
    [
        ("upstream_timeout", "Timeout", Side.BACKEND),
        ("invalid_json", "ClientFault", Side.CLIENT),
        ("server_error", "ProxyFault", Side.PROXY),
        ("other", "ClientFault", Side.CLIENT),
        (None, "BackendFault", Side.BACKEND),
    ],
)
def test_who_must_act(code: str | None, fault: str, side: Side) -> None:
    assert fault_words(code, fault).side is side


def test_words_are_sentences() -> None:
    for code, words in FAULTS.items():
        assert words.what.endswith("."), code
        assert words.advice.endswith((".", "?")), code
