"""Bytes in JSON, exactly."""

import pytest

from proxy.core.recorded.blobs import blob, unblob


@pytest.mark.parametrize("data", [b"", b"Hi", "zwölf".encode(), b"\xff\x00half \xe2\x82", b"\xed\xa0\x80"])
def test_they_come_back(data: bytes) -> None:
    assert unblob(blob(data)) == data
    assert unblob(data) == data


def test_text_can_be_read() -> None:
    assert blob(b'data: {"a": 1}\n\n') == {"text": 'data: {"a": 1}\n\n'}


@pytest.mark.parametrize("value", [None, {"text": 1}, {"base64": "?"}, "text"])
def test_nothing_else_is_taken(value: object) -> None:
    with pytest.raises(ValueError, match=r"base64|Only base64"):
        unblob(value)
