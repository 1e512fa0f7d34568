"""Images and files as content parts of the Responses API."""

from typing import Any

from proxy.core.dialects.responses.content import CONTENT
from proxy.core.ledger import Ledger
from proxy.core.model import File, Image
from tests.support.responses_requests import openai
from tests.support.tables import table

PNG, LINK = "data:image/png;base64,AAAA", "https://x.example/a.png"
PDF = "data:application/pdf;base64,AAAA"


def image(url: str, detail: str = "auto") -> dict[str, Any]:
    return {"type": "input_image", "image_url": url, "detail": detail}


def file(**fields: str) -> dict[str, Any]:
    return {"type": "input_file", **fields}


@table(
    ("part", "written"),
    [
        (Image(LINK), image(LINK)),
        (Image(LINK, "high"), image(LINK, "high")),
        (Image(LINK, "sharp"), image(LINK)),
        (File("a.pdf", PDF), file(filename="a.pdf", file_data=PDF)),
        (File(None, PDF), file(filename="file", file_data=PDF)),
        (File(url="https://x"), file(file_url="https://x")),
        (File(id="file-1"), file(file_id="file-1")),
        (File("a.png", PNG), image(PNG)),
    ],
)
def test_what_a_part_becomes(part: Image | File, written: dict[str, Any]) -> None:
    assert CONTENT.of_user(part, openai(), Ledger()) == written


def test_words_beside_an_image_are_a_part_of_their_own() -> None:
    words = {"type": "input_text", "text": "a"}
    assert CONTENT.content([["a", image(LINK)], ["a"]]) == [words, image(LINK), words]
