"""What comes in a body and what comes in a message are read alike."""

import pytest

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.surfaces.reading.parsing import parsed


def test_what_can_be_read() -> None:
    assert parsed(b'{"a": NaN}', "It", "Mend it.") == {"a": None}


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"{", "invalid_json", "^It is not valid JSON: .* Mend it.$"),
        (b"[%b0]" % (b"[]," * 500_000), "too_many_values", "^It holds more than 1000000 values"),
        (b"[NaN%b" % (b" " * jsontext.MAX_LENIENT), "invalid_json", "must be strictly JSON"),
    ],
)
def test_what_cannot_is_the_clients_fault(data: bytes, code: str, says: str) -> None:
    """attack-04, attack-22."""
    with pytest.raises(ClientFault, match=says) as refused:
        parsed(data, "It", "Mend it.")
    assert refused.value.code == code
