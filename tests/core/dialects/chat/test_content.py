"""Images and files as content parts of Chat."""

from typing import Any

from proxy.core.dialects.chat.content import CONTENT
from proxy.core.ledger import Ledger
from proxy.core.model import File, Image
from tests.support.chat_requests import profile
from tests.support.tables import table

PNG = "data:image/png;base64,AAAA"
PDF = "data:application/pdf;base64,AAAA"
LINK = "https://x.example/a.png"


def image(url: str, **detail: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def file(**fields: str) -> dict[str, Any]:
    return {"type": "file", "file": fields}


@table(
    ("part", "expected"),
    [
        (Image(LINK), image(LINK)),
        (Image(LINK, "high"), image(LINK, detail="high")),
        (Image(LINK, "auto"), image(LINK)),
        (Image(LINK, "original"), image(LINK)),
        (File("a.pdf", data=PDF), file(filename="a.pdf", file_data=PDF)),
        (File(data=PDF), file(filename="file", file_data=PDF)),
        (File(id="file_1"), file(file_id="file_1")),
        (File("a.png", data=PNG), image(PNG)),
    ],
)
def test_what_a_part_becomes(part: Image | File, expected: dict[str, Any]) -> None:
    assert CONTENT.of_user(part, profile(files=True), Ledger()) == expected
