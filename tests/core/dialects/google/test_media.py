"""What is no text, as bytes in the request or as a link."""

from typing import Any

import pytest

from proxy.core.dialects.google.media import fits_result, of_tool, of_user
from proxy.core.dialects.writing.notes import NO_FILE, NO_IMAGES, NO_LINKS
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image
from tests.support.google_requests import GOOGLE, google
from tests.support.tables import table

PNG = "data:image/png;base64,iVBORw0KGgo="


def inline(kind: str, data: str = "QUJD") -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": data}}


def linked(url: str, kind: str | None = None) -> dict[str, Any]:
    return {"fileData": {"fileUri": url} | ({"mimeType": kind} if kind else {})}


@table(
    ("part", "expected"),
    [
        (Image("data:image/webp;base64,QUJD"), inline("image/webp")),
        (Image("data:IMAGE/PNG;charset=x;base64,QUJD"), inline("image/png")),
        (Image("https://x/a.JPG?size=1"), linked("https://x/a.JPG?size=1", "image/jpeg")),
        (Image("https://x/a"), linked("https://x/a")),
        (Audio("QUJD", "mp3"), inline("audio/mp3")),
        (File("a.pdf", "data:application/pdf;base64,QUJD"), inline("application/pdf")),
        (File("a.pdf", "data:;base64,QUJD"), inline("application/pdf")),
        (File(None, "data:;base64,QUJD"), inline("application/octet-stream")),
        (File("a.txt", "data:text/plain,A%42C"), inline("text/plain")),
        (File("a.json", "data:application/json;base64,QUJD"), inline("text/plain")),
        (File(url="https://x/a.pdf"), linked("https://x/a.pdf", "application/pdf")),
        (File(data="no URL", url="https://x/a"), linked("https://x/a")),
    ],
)
def test_what_the_user_shows(part: Any, expected: dict[str, Any]) -> None:
    assert of_user(part, GOOGLE, Ledger()) == expected


@table(
    ("images", "url", "expected"),
    [
        ("none", PNG, NO_IMAGES),
        ("data", "https://x/a.png", NO_LINKS),
        ("data", PNG, inline("image/png", "iVBORw0KGgo=")),
    ],
)
def test_images_that_may_not_pass_become_a_note(images: Any, url: str, expected: Any) -> None:
    ledger = Ledger()
    assert of_user(Image(url), google(images=images), ledger) == expected
    assert ledger.dropped == ({"image": 1} if isinstance(expected, str) else {})


@table(
    ("file", "words", "param"),
    [
        (File(id="file-1", path=".file_id"), "the id of a file at another service", ".file_id"),
        (File(data="QUJD", path=".file_data"), "no data URL", ".file_data"),
    ],
)
def test_a_file_that_nobody_can_read_is_the_clients_mistake(file: File, words: str, param: str) -> None:
    with pytest.raises(ClientFault, match=words) as caught:
        of_user(file, GOOGLE, Ledger())
    assert (caught.value.param, caught.value.code) == (param, "unsupported_content")


def test_a_tools_file_that_nobody_can_read_is_not() -> None:
    ledger = Ledger()
    assert of_tool(File(id="file-1"), GOOGLE, ledger) == NO_FILE
    assert ledger.dropped == {"file": 1}


def test_what_fits_into_a_result() -> None:
    assert fits_result(inline("image/png"))
    assert not fits_result(inline("image/gif"))
    assert not fits_result(linked("https://x/a.png", "image/png"))
