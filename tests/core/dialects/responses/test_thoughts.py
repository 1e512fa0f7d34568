"""What a model has sealed goes back to that model alone, as it came."""

from proxy.core.dialects.responses.thoughts import item_of, kept, returned
from proxy.core.extras import are_extras
from proxy.core.model import Reasoning
from tests.support.responses_requests import MODEL, sealed, sealed_item


def test_only_what_is_sealed_is_kept() -> None:
    item = sealed_item() | {"status": "completed", "format": "x"}
    extras = kept(item, MODEL)
    assert extras == {"responses": {"items": [{"model": MODEL, "item": sealed_item() | {"format": "x"}}]}}
    assert are_extras(extras)
    for nothing in (None, "", 7):
        assert kept(sealed_item() | {"encrypted_content": nothing}, MODEL) is None
    assert kept({"type": "reasoning"}, MODEL) is None


def test_it_goes_back_to_the_model_that_made_it() -> None:
    assert returned([sealed("a"), sealed("b", model="other"), Reasoning("words")], MODEL) == [
        sealed_item("a")
    ]


def test_a_token_of_another_server_is_no_item() -> None:
    """The surface carries it along, see `surfaces.responses.items`."""
    assert returned([Reasoning("", {"responses": {"encrypted_content": "x"}})], MODEL) == []


def test_words_become_an_item() -> None:
    assert item_of("Hm") == {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm"}],
    }
