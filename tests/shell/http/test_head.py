"""A head says what it was told, and no more."""

import pytest

from proxy.shell.http.head import END, fields, opening, whole


def test_a_head_ends_with_an_empty_line() -> None:
    said = opening("GET / HTTP/1.1", {"Host": "h"}) + fields({"X-Name": "Zoë"}) + END
    assert said == "GET / HTTP/1.1\r\nHost: h\r\nX-Name: Zoë\r\n\r\n".encode()


@pytest.mark.parametrize(("others", "told"), [({}, ""), ({"A": "b", "C": "d"}, "A: b\r\nC: d\r\n")])
def test_a_whole_head_has_its_parts_in_their_order(others: dict[str, str], told: str) -> None:
    said = whole(opening("HTTP/1.1 200 OK", {}), "X-First: 1\r\n", others, "X-Last: 2\r\n")
    assert said.decode() == f"HTTP/1.1 200 OK\r\nX-First: 1\r\n{told}X-Last: 2\r\n\r\n"


@pytest.mark.parametrize("value", ["k\r\nX-Other: 1", "k\nX-Other: 1", "k\0", "k\x7f", "k\x85", "k\u2028"])
def test_no_value_begins_another_header(value: str) -> None:
    """S12, S13."""
    with pytest.raises(ValueError, match="control characters"):
        opening("GET / HTTP/1.1", {"Authorization": value})
    with pytest.raises(ValueError, match="control characters"):
        whole(b"", "", {"X-Proxy-Backend": value}, "")
