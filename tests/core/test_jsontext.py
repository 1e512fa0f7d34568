"""Whatever JSON the world sends is read or refused in one way, and what is written is always valid."""

import ast
import tracemalloc

import orjson
import pytest

from proxy.core import jsontext, unquoted
from proxy.core.jsontext import BadJson
from tests.support.tables import table

CUT_OFF = "\ud83d"  # the first half of a character


@table(
    ("text", "value"),
    [
        pytest.param(b'{"a":[1,"\xc3\xa9",null]}', {"a": [1, "é", None]}, id="clean"),
        pytest.param('{"a":"é"}', {"a": "é"}, id="clean text"),
        pytest.param(b'\xef\xbb\xbf{"a":1}', {"a": 1}, id="F27 byte order mark"),
        pytest.param(b'{"a":"x\xffy"}', {"a": "x\ufffdy"}, id="F29 invalid UTF-8"),
        pytest.param(b"[NaN,Infinity,-Infinity]", [None, None, None], id="F35 no numbers"),
        pytest.param(rb'"\ud83d"', CUT_OFF, id="F36 half a character is kept"),
        pytest.param(b'{"a":"tab\there"}', {"a": "tab\there"}, id="raw control character"),
        pytest.param(f'"{CUT_OFF}"', CUT_OFF, id="half a character in text"),
    ],
)
def test_reads_what_can_be_read(text: bytes | str, value: object) -> None:
    assert jsontext.loads(text) == value


@table(
    "text",
    [
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "[ 9223372036854775808 , 340282366920938463463374607431768211455]",
        '{"20000000000000000001":20000000000000000001}',
        '["\\"20000000000000000001", "\\\\", -20000000000000000001]',
    ],
)
def test_attack_21_whole_numbers_are_read_to_the_last_digit(text: str) -> None:
    want = ast.literal_eval(text)
    for read in (jsontext.loads(text), jsontext.strict(text), jsontext.loads(text.encode())):
        assert repr(read) == repr(want)
    assert jsontext.exactly(jsontext.quick(text), text.encode()) == want


@table("text", ['["20000000000000000001"]', "[1234567890123456789012.5, 1e30, 12345678901234567890e2]"])
def test_other_numbers_and_digits_in_texts_are_read_as_ever(text: str) -> None:
    """By the quick parser: what it made of them stands."""
    value = jsontext.quick(text)
    assert jsontext.exactly(value, text) is value


def test_attack_21_digits_are_found_wherever_a_long_text_is_cut_for_the_search() -> None:
    for lead in range(jsontext._PIECE - 25, jsontext._PIECE + 5):
        with pytest.raises(BadJson, match="whole number"):
            jsontext.loads(b" " * lead + b"-20000000000000000001" + b" " * 30)


@table(
    ("text", "says"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"{'a':1}", "Expecting property name"),
        (b"<html>", "Expecting value"),
        (b"[DONE]", "Expecting value"),
        (b"9" * 5000, "a number has more than 4000 digits"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
    ids=["nothing", "cut", "python", "page", "end mark", "endless number", "S18 nesting without end"],
)
def test_refuses_the_rest_as_bad_json(text: bytes, says: str) -> None:
    """S34: and says why in no words of Python's."""
    with pytest.raises(BadJson, match=says):
        jsontext.loads(text)


def test_the_strict_parser_refuses_what_the_lenient_one_mends() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        jsontext.strict(rb'"\ud83d"')
    assert jsontext.lenient(rb'"\ud83d"') == CUT_OFF


@table(
    ("value", "text"),
    [
        ({"a": ["é", 1.5, None, True]}, '{"a":["é",1.5,null,true]}'),
        ({"k" + CUT_OFF: ["a" + CUT_OFF]}, '{"k\ufffd":["a\ufffd"]}'),
        (["\ud83d\ude00"], '["😀"]'),
        ([2**64, -(2**63) - 1, 1], "[18446744073709551616,-9223372036854775809,1]"),
        ((2**70, float("nan"), CUT_OFF), f'[{2**70},null,"\ufffd"]'),
    ],
    ids=["clean", "F36 orphans", "halves that met", "F38 big integers", "everything at once"],
)
def test_writes_everything_as_valid_json(value: object, text: str) -> None:
    assert jsontext.compact(value) == text
    assert jsontext.dumps(value) == text.encode()


def nested(depth: int, inner: object = CUT_OFF) -> object:
    for _ in range(depth):
        inner = [inner]
    return inner


def test_writes_down_to_the_depth_it_promises_and_refuses_what_is_deeper() -> None:
    """S18: a body can parse and then not be writable."""
    assert jsontext.dumps(nested(jsontext.WRITABLE_DEPTH)).count(b"[") == jsontext.WRITABLE_DEPTH
    with pytest.raises(BadJson):
        jsontext.dumps(nested(1000))


def test_a_value_that_is_no_json_at_all_is_our_bug_and_stays_loud() -> None:
    with pytest.raises(TypeError):
        jsontext.dumps({"a": object()})


@table("text", ["", "plain", 'quo"te', "\u2028\n\r\0", "a" + CUT_OFF, "\ud83d\ude00"])
def test_a_string_literal_is_one_line_of_valid_json(text: str) -> None:
    """F37, S14: no line end of the text can reach the wire."""
    literal = jsontext.string(text)
    assert b"\n" not in literal
    assert b"\r" not in literal
    assert orjson.loads(literal) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@table(
    ("text", "whole"),
    [
        ("{}", True),
        (' {"a":{"b":"}"}}\n', True),
        ('{"a":NaN}', True),
        pytest.param(f'{{"a":{1 << 64},"b":"{"x" * jsontext.MAX_EXACT}"}}', True, id="large numbers"),
        ('{"a":{}', False),
        ('{"a":1}}', False),
        ('{"a":1} {"b":2}', False),
        ("[]", False),
        ('"{}"', False),
        ("", False),
        ("{", False),
    ],
)
def test_knows_a_whole_object(text: str, whole: bool) -> None:
    assert jsontext.is_object(text) is whole


@table(
    ("value", "limit", "deeper"),
    [
        ("scalar", 0, False),
        ([], 0, True),
        ([], 1, False),
        ([1, {"a": 2}], 1, True),
        ([1, {"a": 2}], 2, False),
        ({"a": {"b": [{}]}, "c": 1}, 3, True),
        ({"a": {"b": [{}]}, "c": 1}, 4, False),
    ],
)
def test_measures_depth(value: object, limit: int, deeper: bool) -> None:
    assert jsontext.deeper_than(value, limit) is deeper


def test_measures_depth_without_recursion() -> None:
    """S18: what is measured may be deeper than any stack."""
    assert jsontext.deeper_than(nested(3_000), 2_999)
    assert not jsontext.deeper_than(nested(3_000), 3_000)


def test_attack_22_only_so_much_is_mended() -> None:
    text = b'["\\ud83d"' + b" " * (jsontext.MAX_LENIENT - 12) + b"]"
    assert jsontext.loads(text) == ["\ud83d"]
    with pytest.raises(BadJson, match="must be strictly JSON"):
        jsontext.loads(text + b"   ")


def test_attack_22_of_strangers_no_more_is_read_than_can_be_read_at_once() -> None:
    within, beyond = b"[%b0]" % (b"1," * (jsontext.MAX_VALUES - 1)), b"[%b0]" % (b"1," * jsontext.MAX_VALUES)
    assert len(jsontext.bounded(within)) == jsontext.MAX_VALUES
    with pytest.raises(jsontext.TooManyValues):
        jsontext.bounded(beyond)


@table("number", [b"12345678901234567890123", b"-9999999999999999999", b"1" * 5_000])
def test_attack_21_a_number_is_whole_wherever_a_text_is_cut(
    number: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cut in (1, 2, 3, 5, 8, 13, 21):
        monkeypatch.setattr(unquoted, "PIECE_BYTES", cut)
        assert jsontext._has_numbers_beyond(b'["1", %b]' % number)
        assert not jsontext._has_numbers_beyond(
            b'["%b", 0.%b, 1e%b, 1234567890123456789]' % ((number.strip(b"-"),) * 3)
        )


@table(
    ("text", "mended"),
    [
        ("", ""),
        ("plain é 😀", "plain é 😀"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
    ],
)
def test_halves_that_meet_are_joined_and_orphans_replaced(text: str, mended: str) -> None:
    assert jsontext.mend(text) == mended


@table(("text", "whole"), [("", True), ("plain é 😀 \0", True), ("a\ud83d", False), ("\ud83d\ude00", False)])
def test_knows_text_that_can_be_encoded(text: str, whole: bool) -> None:
    assert jsontext.is_text(text) is whole


def test_what_is_kept_takes_no_more_than_it_is_long() -> None:
    """Whoever keeps it is counted by its length."""
    tracemalloc.start()
    try:
        data = jsontext.tight(jsontext.dumps({"a": "x" * 5000}))
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(data) < taken < 2 * len(data)


def test_what_is_written_stands_in_others_as_it_is() -> None:
    part = jsontext.written(["a", "\ud800", 2**64])
    assert jsontext.dumps({"once": part, "again": [part, "\ud800"]}) == (
        '{"once":["a","\ufffd",18446744073709551616],"again":[["a","\ufffd",18446744073709551616],"\ufffd"]}'.encode()
    )
