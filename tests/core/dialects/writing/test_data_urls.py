"""What stands inside a request, in every form that data URLs have."""

import pytest

from proxy.core.dialects.writing.data_urls import DataUrl, read
from proxy.core.errors import ClientFault
from tests.support.quickness import quickly
from tests.support.tables import table


@table(
    ("url", "expected"),
    [
        ("data:image/png;base64,aGk=", DataUrl("image/png", "aGk=")),
        ("DATA:Image/PNG;charset=x;BASE64,aGk=", DataUrl("image/png", "aGk=")),
        ("data:image/jpg;base64,aGk=", DataUrl("image/jpeg", "aGk=")),
        ("data:application/x-pdf;base64,aGk=", DataUrl("application/pdf", "aGk=")),
        ("data:text/plain,h%69", DataUrl("text/plain", "aGk=")),
        ("data:;base64,aGk%3D", DataUrl("", "aGk=")),
        ("https://host/a.png", None),
        ("data:no comma", None),
        ("data:a;base64;b,c", DataUrl("a", "Yw==")),
        ("data", None),
    ],
)
def test_what_it_is_and_what_is_in_it(url: str, expected: DataUrl | None) -> None:
    assert read(url, "a") == expected


@table("data", ["a", "aGk=\n", "ä", "a b="])
def test_what_is_no_base64_is_refused(data: str) -> None:
    with pytest.raises(ClientFault, match="must be base64") as caught:
        read(f"data:image/png;base64,{data}", "messages[0].content[1].image_url.url")
    assert caught.value.param == "messages[0].content[1].image_url.url"


@table(
    ("media_type", "is_text", "is_image"),
    [
        ("text/csv", True, False),
        ("application/json", True, False),
        ("application/ld+json", True, False),
        ("application/pdf", False, False),
        ("image/png", False, True),
        ("", False, False),
    ],
)
def test_its_kind(media_type: str, is_text: bool, is_image: bool) -> None:
    url = DataUrl(media_type, "")
    assert (url.is_text, url.is_image) == (is_text, is_image)


def test_its_text_without_a_mark_and_whatever_its_bytes() -> None:
    assert DataUrl("text/plain", "77u/aGnk").text() == "hi\ufffd"


@table("url", ["data:" + "a" * 20_000, "data:" + ";base64" * 20_000, "data:a/" + "+" * 20_000 + ",x"])
def test_attack_01_a_head_without_an_end_is_read_once(url: str) -> None:
    with quickly():
        found = read(url, "a")
        assert found is None or not found.is_text
