"""A refusal is what OpenAI's clients expect, and names the place that is at fault."""

import orjson
import pytest

from proxy.demo.refusals import Refused, path, read


def test_a_refusal_has_openais_envelope() -> None:
    with pytest.raises(Refused) as caught:
        read(orjson.dumps({"model": "demo", "messages": [{"role": "user", "content": 7}]}))
    assert caught.value.status == 400
    assert caught.value.body == {
        "error": {
            "message": "Input should be a valid list (got 7)",
            "type": "invalid_request_error",
            "param": "messages[0].content",
            "code": None,
        }
    }


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b'"\xff"'])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="could not parse"):
        read(body)


@pytest.mark.parametrize("body", [b"[]", b"null", b"1"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        read(body)
    assert caught.value.body["error"]["param"] is None


def test_a_place_is_written_without_the_names_of_branches() -> None:
    document = {"content": [{"type": "image_url", "image_url": {"url": 1}}]}
    loc = ("content", "list", 0, "image_url", "image_url", "url", "str")
    assert path(loc, document, missing=False) == "content[0].image_url.url"
    assert path(("content", 0, "x"), document, missing=True) == "content[0].x"
    assert path((), document, missing=False) is None
