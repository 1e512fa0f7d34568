"""Images, sound and files in the API's words, as far as the backend reads them."""

from typing import Any

import pytest

from proxy.core.dialects.responses.content import content, of_tool, of_user
from proxy.core.dialects.writing.notes import NO_FILE, NO_IMAGES, NO_LINKS
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image, Text
from tests.support.responses_requests import openai
from tests.support.tables import table

PNG, LINK = "data:image/png;base64,AAAA", "https://x.example/a.png"
PDF, PLAIN = "data:application/pdf;base64,AAAA", "data:text/plain;base64,SGk="
BARE = {"files": False}


@table(
    ("part", "changes", "written"),
    [
        (Text("a"), {}, "a"),
        (Image(LINK), {}, {"type": "input_image", "image_url": LINK, "detail": "auto"}),
        (Image(LINK, "high"), {}, {"type": "input_image", "image_url": LINK, "detail": "high"}),
        (Image(LINK, "sharp"), {}, {"type": "input_image", "image_url": LINK, "detail": "auto"}),
        (Image(LINK), {"images": "none"}, NO_IMAGES),
        (Image(LINK), {"images": "data"}, NO_LINKS),
        (Image(PNG), {"images": "data"}, {"type": "input_image", "image_url": PNG, "detail": "auto"}),
        (Audio("AA", "wav"), {}, {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}),
        (File("a.pdf", PDF), {}, {"type": "input_file", "filename": "a.pdf", "file_data": PDF}),
        (File(None, PDF), {}, {"type": "input_file", "filename": "file", "file_data": PDF}),
        (File(url="https://x"), {}, {"type": "input_file", "file_url": "https://x"}),
        (File(id="file-1"), {}, {"type": "input_file", "file_id": "file-1"}),
        (File("a.png", PNG), BARE, {"type": "input_image", "image_url": PNG, "detail": "auto"}),
        (File("a.txt", PLAIN), BARE, "a.txt:\nHi"),
        (File(None, PLAIN), BARE, "file:\nHi"),
    ],
)
def test_parts(part: Any, changes: dict[str, Any], written: Any) -> None:
    assert of_user(part, openai(**changes), Ledger()) == written


def test_a_file_that_cannot_be_read() -> None:
    """It is the client's mistake, unless a tool returned it."""
    file, ledger = File("a.pdf", PDF, path="input[0].content[0].file_data"), Ledger()
    with pytest.raises(ClientFault) as raised:
        of_user(file, openai(**BARE), ledger)
    assert raised.value.param == file.path
    assert of_tool(file, openai(**BARE), ledger) == NO_FILE
    assert ledger.dropped == {"file": 1}
    assert of_tool(Text("a"), openai(), ledger) == "a"


def test_text_alone_stays_text() -> None:
    assert content([["a", "b"], ["c"]]) == "a\nb\n\nc"
    image = {"type": "input_image", "image_url": LINK}
    assert content([["a", image], ["c"]]) == [
        {"type": "input_text", "text": "a"},
        image,
        {"type": "input_text", "text": "c"},
    ]
