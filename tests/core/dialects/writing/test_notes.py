"""Our own sentences that hold something of the client's."""

from proxy.core.dialects.writing import notes


def test_an_instruction_is_told_from_what_the_user_says() -> None:
    assert notes.as_instruction("Be brief.") == "<system>\nBe brief.\n</system>"


def test_what_was_moved_says_where_it_comes_from() -> None:
    assert notes.returned_by("shot") == "[returned by shot]"


def test_a_call_is_told_as_text() -> None:
    assert notes.called_with("shot", "{}") == "[called shot: {}]"
