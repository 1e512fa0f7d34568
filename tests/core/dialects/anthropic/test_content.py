"""Text, images and files as blocks; what there is no block for is refused by its name, or noted in a result."""

from base64 import b64encode

import pytest

from proxy.core.dialects.anthropic.content import of_tool, of_user, text
from proxy.core.dialects.writing.notes import UNREADABLE
from proxy.core.errors import ClientFault, Incompatible
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image
from tests.support.tables import table

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="
PNG_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def base64(words: bytes) -> str:
    return b64encode(words).decode()


@table(
    ("part", "block"),
    [
        ("Hi", {"type": "text", "text": "Hi"}),
        ("", None),
        (" \n", None),
        (Image(PNG), PNG_BLOCK),
        (Image("https://x/y.png"), {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}),
        (
            Image("data:image/png,%89PNG"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": base64(b"\x89PNG")},
            },
        ),
        (File("p.png", data=PNG), PNG_BLOCK),
        (
            File("a.pdf", data=PDF),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                "title": "a.pdf",
            },
        ),
        (
            File(data=f"data:text/markdown;charset=utf-8;base64,{base64('é'.encode())}"),
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "é"}},
        ),
        (
            File(url="https://x/a.pdf"),
            {"type": "document", "source": {"type": "url", "url": "https://x/a.pdf"}},
        ),
        (File(id="file_1"), {"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
    ],
)
def test_what_there_is_a_block_for(part: str | Image | File, block: object) -> None:
    assert of_user(part) == block


@table(
    ("part", "feature"),
    [
        (Audio("UklG", "wav"), "audio"),
        (Image("data:image/svg+xml;base64,PHN2Zy8+"), "image/svg+xml"),
        (Image("data:;base64,PHN2Zy8+"), "an image without a type"),
        (File("a.zip", data="data:application/zip;base64,UEsD"), "application/zip"),
        (File("a", data="data:;base64,UEsD"), "a file without a type"),
        (File("a", data="UEsD"), "a file without a type"),
        (File("a"), "an empty file"),
    ],
)
def test_what_there_is_none_for(part: Audio | Image | File, feature: str) -> None:
    """P02: refused with its name, and in a tool's result left out with a note, which the ledger counts."""
    with pytest.raises(Incompatible) as refused:
        of_user(part)
    assert (refused.value.status, refused.value.type) == (400, "semantic_error")
    assert refused.value.details == {"incompatible_features": [feature]}
    assert "send" in refused.value.message
    ledger = Ledger()
    assert of_tool(part, ledger) == text(UNREADABLE)
    assert ledger.dropped == {"tool_output_part": 1}


@table("url", ["data:image/png;base64,a", "data:image/png;base64,a b=", "data:image/png;base64,é"])
def test_broken_base64_is_the_clients_mistake(url: str) -> None:
    with pytest.raises(ClientFault, match="must be base64") as caught:
        of_user(Image(url, path="input[0].content[1].image_url"))
    assert caught.value.param == "input[0].content[1].image_url"


def test_a_result_that_can_be_read() -> None:
    ledger = Ledger()
    assert of_tool(Image(PNG), ledger) == PNG_BLOCK
    assert not ledger.dropped


def test_a_type_by_a_common_misnomer_is_what_it_means() -> None:
    """OpenAI takes `image/jpg`, so clients send it."""
    assert of_user(Image("data:image/jpg;base64,aGk=")) == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/jpeg", "data": "aGk="},
    }
