"""What is shown becomes a dialect's words, or what stands for what the backend cannot read."""

from typing import Any

import pytest

from proxy.core.dialects.writing.content_parts import ContentParts
from proxy.core.dialects.writing.notes import NO_FILE, NO_IMAGES, NO_LINKS
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image
from tests.support.chat_requests import profile
from tests.support.tables import table

PNG = "data:image/png;base64,AAAA"
PDF = "data:application/pdf;base64,AAAA"
LINK = "https://x.example/a.png"

CONTENT = ContentParts(
    "words",
    lambda image: {"image": image.url},
    lambda file: {"file": file.data} if file.data else None,
)


@table(
    ("part", "fields", "expected"),
    [
        ("a", {}, "a"),
        (Image(LINK), {}, {"image": LINK}),
        (Image(LINK), {"images": "data"}, NO_LINKS),
        (Image(PNG), {"images": "data"}, {"image": PNG}),
        (Image(PNG), {"images": "none"}, NO_IMAGES),
        (Audio("AAAA", "wav"), {}, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
        (File("a.pdf", data=PDF), {"files": True}, {"file": PDF}),
        (File("a.png", data=PNG), {}, {"image": PNG}),
        (File("a.png", data=PNG), {"files": True}, {"image": PNG}),
        (File("a.png", data=PNG), {"images": "none"}, NO_IMAGES),
        (File("a.txt", data="data:text/plain;base64,SGkh"), {}, "a.txt:\nHi!"),
        (File("a.txt", data="data:text/plain;charset=utf-8;base64,77u/SGkh"), {}, "a.txt:\nHi!"),
        (File(data="data:text/csv,a%2Cb"), {}, "file:\na,b"),
        (File(data="data:application/json;base64,e30="), {}, "file:\n{}"),
        (File(data="data:application/ld+json,{}"), {}, "file:\n{}"),
        (File(data="data:text/plain;base64,/w=="), {}, "file:\n\ufffd"),
    ],
)
def test_what_a_part_becomes(part: Any, fields: dict[str, Any], expected: Any) -> None:
    assert CONTENT.of_user(part, profile(**fields), Ledger()) == expected
    assert CONTENT.of_tool(part, profile(**fields), Ledger()) == expected


@table(
    ("file", "files", "words"),
    [
        (File("a.pdf", data=PDF), False, "of type application/pdf"),
        (File(data="data:;base64,AAAA"), False, "of type unknown"),
        (File(data="AAAA"), False, "that is not inside the request"),
        (File(url="https://x.example/a.pdf"), True, "that is not inside the request"),
        (File(id="file_1"), False, "that is not inside the request"),
        (File(data="data:text/plain;base64,%%%"), False, "must be base64"),
    ],
)
def test_a_file_that_nobody_can_read_is_the_clients_fault_unless_a_tool_made_it(
    file: File, files: bool, words: str
) -> None:
    file.path = "input[0].content[1].file_data"
    with pytest.raises(ClientFault, match=words) as caught:
        CONTENT.of_user(file, profile(files=files), Ledger())
    assert caught.value.param == file.path
    ledger = Ledger()
    assert CONTENT.of_tool(file, profile(files=files), ledger) == NO_FILE
    assert ledger.dropped == {"file": 1}


@table(
    ("blocks", "expected"),
    [
        ([["a"]], "a"),
        ([["a", "b"], ["c"]], "a\nb\n\nc"),
        ([[]], ""),
        (
            [["a"], [{"image": PNG}, "b"]],
            [{"type": "words", "text": "a"}, {"image": PNG}, {"type": "words", "text": "b"}],
        ),
    ],
)
def test_content_is_one_string_unless_there_is_more_than_text(blocks: Any, expected: Any) -> None:
    assert CONTENT.content(blocks) == expected
