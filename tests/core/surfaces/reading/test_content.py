"""Content parts: what each becomes, and what each may not be."""

import pytest

from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image, Reasoning, Refusal, Text
from proxy.core.surfaces.reading import content as reading_content
from proxy.core.surfaces.responses.decode import decode
from proxy.core.surfaces.responses.whole_input import WholeInput
from tests.support.responses_asks import assistant, refused, turns, user
from tests.support.tables import table

PNG = "data:image/png;base64,AA=="


@table(
    ("part", "expected"),
    [
        ({"type": "input_text", "text": "x"}, "x"),
        ({"type": "text", "text": ""}, ""),
        ({"type": "output_text", "text": "x", "annotations": [], "logprobs": []}, "x"),
        ({"type": "input_image", "image_url": PNG}, Image(PNG)),
        ({"type": "input_image", "image_url": PNG, "detail": "high"}, Image(PNG, "high")),
        ({"type": "input_image", "image_url": PNG, "file_id": None, "detail": None}, Image(PNG)),
        ({"type": "input_image", "image_url": {"url": PNG, "detail": "low"}}, Image(PNG, "low")),
        ({"type": "image_url", "image_url": {"url": PNG}}, Image(PNG)),
        ({"type": "image_url", "image_url": PNG, "detail": "low"}, Image(PNG, "low")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
            File(name="a.pdf", data="data:application/pdf;base64,AA=="),
        ),
        (
            {"type": "input_file", "file_url": "https://example.org/a.pdf"},
            File(url="https://example.org/a.pdf"),
        ),
        ({"type": "input_file", "file_id": "file_1"}, File(id="file_1")),
        ({"type": "input_audio", "data": "AA==", "format": "wav"}, Audio("AA==", "wav")),
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}}, Audio("AA==", "mp3")),
        ({"type": "input_audio", "audio_url": "data:audio/wav;base64,AA=="}, Audio("AA==", "wav")),
        ({"type": "input_audio", "audio_url": "DATA:audio/mpeg;rate=8;base64,AA=="}, Audio("AA==", "mp3")),
    ],
)
def test_what_a_user_may_say(part, expected):
    """Flat and nested forms, as the published clients write them."""
    assert turns(user([part]))[0][1] == [expected]


@table(
    ("part", "expected"),
    [
        ({"type": "output_text", "text": "x", "annotations": []}, Text("x")),
        ({"type": "input_text", "text": "x"}, Text("x")),
        ({"type": "refusal", "refusal": "No"}, Refusal("No")),
        ({"type": "reasoning_text", "text": "hm"}, Reasoning("hm")),
        ({"type": "summary_text", "text": "hm"}, Reasoning("hm")),
    ],
)
def test_what_an_assistant_may_have_said(part, expected):
    """Text goes by either name: clients echo what they got, or write it themselves."""
    assert turns(assistant([part]))[0][1] == [expected]


def test_unknown_parts_are_counted_and_ignored():
    """What nobody here has heard of must not end a conversation that another client's version began."""
    ledger = Ledger()
    said = turns(user([{"type": "hologram", "beam": 1}, {"type": "text", "text": "x"}]), ledger=ledger)
    assert said[0][1] == ["x"]
    assert ledger.dropped == {"unknown_part": 1}


@table(
    ("part", "param"),
    [
        (5, ""),
        (None, ""),
        ("text", ""),
        ([], ""),
        ({}, ".type"),
        ({"text": "x"}, ".type"),
        ({"type": 5}, ".type"),
        ({"type": ["text"]}, ".type"),
        ({"type": "input_text"}, ".text"),
        ({"type": "input_text", "text": None}, ".text"),
        ({"type": "input_text", "text": ["x"]}, ".text"),
        ({"type": "output_text", "text": 5}, ".text"),
        ({"type": "input_image"}, ".image_url"),
        ({"type": "input_image", "image_url": 5}, ".image_url"),
        ({"type": "input_image", "image_url": {}}, ".image_url.url"),
        ({"type": "input_image", "image_url": {"url": 5}}, ".image_url.url"),
        ({"type": "input_image", "image_url": {"url": PNG, "detail": 5}}, ".image_url.detail"),
        ({"type": "input_image", "image_url": PNG, "detail": 5}, ".detail"),
        ({"type": "input_image", "file_id": "file_1"}, ".file_id"),
        ({"type": "input_file"}, ".file_data"),
        ({"type": "input_file", "filename": "a.pdf"}, ".file_data"),
        ({"type": "input_file", "file_data": {}}, ".file_data"),
        ({"type": "input_file", "file_url": 5}, ".file_url"),
        ({"type": "input_file", "file_id": 5}, ".file_id"),
        ({"type": "input_file", "filename": 5}, ".filename"),
        ({"type": "image_url"}, ".image_url"),
        ({"type": "image_url", "image_url": 5}, ".image_url"),
        ({"type": "input_audio"}, ".input_audio"),
        ({"type": "input_audio", "data": 5}, ".data"),
        ({"type": "input_audio", "data": "AA=="}, ".format"),
        ({"type": "input_audio", "data": "AA==", "format": 5}, ".format"),
        ({"type": "input_audio", "input_audio": "AA=="}, ".input_audio"),
        ({"type": "input_audio", "input_audio": {"format": "wav"}}, ".input_audio.data"),
        ({"type": "input_audio", "audio_url": 5}, ".audio_url"),
        ({"type": "input_audio", "audio_url": "https://example.org/a.wav"}, ".audio_url"),
        ({"type": "input_audio", "audio_url": "data:image/png;base64,AA=="}, ".audio_url"),
        ({"type": "input_audio", "audio_url": "data:audio/wav,AA=="}, ".audio_url"),
        ({"type": "input_video", "video_url": "https://example.org/a.mp4"}, ".type"),
        ({"type": "refusal", "refusal": "No"}, ".type"),
        ({"type": "reasoning_text", "text": "hm"}, ".type"),
    ],
)
def test_a_part_that_cannot_be_read_is_refused_where_it_is_wrong(part, param):
    """F72: exact to the field, whatever stands around it."""
    fault = refused(input=[user("Hi"), user([{"type": "text", "text": "x"}, part])])
    assert fault.param == f"input[1].content[1]{param}"
    assert fault.message.startswith(fault.param)
    assert fault.status == 400


@table(("role", "part"), [
    ("system", {"type": "input_image", "image_url": PNG}),
    ("developer", {"type": "input_file", "file_id": "f"}),
    ("assistant", {"type": "input_image", "image_url": PNG}),
])  # fmt: skip
def test_content_in_a_place_where_no_backend_takes_it_is_refused(role, part):
    """Left out silently, the model would answer as if it had seen it."""
    assert refused(input=[{"role": role, "content": [part]}]).param == "input[0].content[0].type"


def test_an_image_by_file_id_says_what_to_do_instead():
    """Files are not stored here: a way out beats a bare no."""
    fault = refused(input=[user([{"type": "input_image", "file_id": "file_1"}])])
    assert fault.code == "unsupported_value"
    assert "image_url" in fault.message


@table("content", [5, True, {"type": "text", "text": "x"}])
def test_content_is_a_string_or_a_list(content):
    """A single part without its list is a mistake that is easier named than guessed at."""
    fault = refused(input=[user(content)])
    assert (fault.param, fault.code) == ("input[0].content", "invalid_type")


@table("message", [{"role": "user"}, user(None)])
def test_a_user_message_has_content(message):
    """Only an assistant may say nothing."""
    fault = refused(input=[message])
    assert (fault.param, fault.code) == ("input[0].content", "missing_required_parameter")


def test_the_parts_of_a_request_are_limited_in_all():
    """S19: many small parts cost more than one large one, and they may be spread over many items."""
    cursor = reading_content.InputCursor(Ledger(), parts_left=3)
    two = user([{"type": "text", "text": "x"}] * 2)
    assert len(reading_content.content_in(two, "content", cursor, (str,))) == 2
    with pytest.raises(reading_content.FieldFault) as caught:
        reading_content.content_in(two, "content", cursor, (str,))
    assert caught.value.code == "array_above_max_length"


def test_a_request_begins_with_the_whole_limit():
    """One part too many, in the only item there is."""
    parts = [{"type": "text", "text": ""}] * (reading_content.MAX_PARTS + 1)
    assert refused(input=[user(parts)]).param == "input[0].content"


@table(
    ("part", "place"),
    [
        ({"type": "input_image", "image_url": PNG}, "image_url"),
        ({"type": "image_url", "image_url": {"url": PNG}}, "image_url.url"),
        ({"type": "input_file", "file_data": PNG}, "file_data"),
        ({"type": "input_file", "file_url": "https://x.example/a"}, "file_url"),
        ({"type": "input_file", "file_id": "file_1"}, "file_id"),
        ({"type": "input_audio", "data": "AA==", "format": "wav"}, "data"),
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}}, "input_audio.data"),
        ({"type": "input_audio", "audio_url": "data:audio/wav;base64,AA=="}, "audio_url"),
    ],
)
def test_what_a_backend_may_have_to_refuse_knows_its_place(part, place):
    """In the request as it came, so that the refusal can name it."""
    said = [user("Hi"), user([{"type": "input_text", "text": "x"}, part])]
    assert turns(*said)[1][1][1].path == f"input[1].content[1].{place}"


def test_a_place_is_counted_from_where_the_clients_own_items_begin():
    """What a connection still knew stands before them, and in no request; and what was left out counts."""
    message = user([{"type": "input_image", "image_url": PNG}])
    for indices, index in ((None, 0), ([3], 3)):
        whole = WholeInput([message], [message], indices)
        (known, sent) = decode({"model": "m", "input": whole.items}, Ledger(), whole=whole).turns
        assert known[1][0].path == "previous_response_id"
        assert sent[1][0].path == f"input[{index}].content[0].image_url"
