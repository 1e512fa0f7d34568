"""Arguments as the object that structured calls insist on, as the model wrote them wherever they are one."""

from proxy.core import jsontext
from proxy.core.dialects.writing.call_arguments import as_object, as_text
from proxy.core.jsontext import MAX_DIGITS
from tests.support.tables import table


@table(
    ("arguments", "written"),
    [
        ('{"b": 1.50, "a":\t2}', '{"b": 1.50, "a":\t2}'),
        ('{"n": 123456789012345678901234567890}', '{"n": 123456789012345678901234567890}'),
        ('{"e": "\\u00e9é"}', '{"e": "\\u00e9é"}'),
        (f'{{"n": {"1" * (MAX_DIGITS + 1)}}}', None),
        ("", "{}"),
        (" \n", "{}"),
        ("[1]", '{"INVALID_JSON":"[1]"}'),
        ("5", '{"INVALID_JSON":"5"}'),
        ('{"a": 1', '{"INVALID_JSON":"{\\"a\\": 1"}'),
        ('{"a": "x\ny"}', '{"a":"x\\ny"}'),
        ('{"a": NaN}', '{"a":null}'),
        ("[NaN]", '{"INVALID_JSON":"[NaN]"}'),
        ('{"a": ' * 300 + "NaN" + "}" * 300, None),
    ],
)
def test_as_object(arguments: str, written: str | None) -> None:
    """Key order, numbers and spelling are the model's; what is no object is wrapped, never repaired."""
    expected = written or jsontext.compact({"INVALID_JSON": arguments})
    assert jsontext.compact(as_object(arguments)) == expected


@table(
    ("written", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        (' {"a": 1}\n', ' {"a": 1}\n'),
        ("", "{}"),
        (" \n", "{}"),
        ('{"a": ', '{"_raw":"{\\"a\\": "}'),
        ("[1]", '{"_raw":"[1]"}'),
        ("[NaN]", '{"_raw":"[NaN]"}'),
        ("null", '{"_raw":"null"}'),
        ("ls -la", '{"_raw":"ls -la"}'),
        ('{"a": NaN}', '{"a":null}'),
        ('{"a": "x\ny"}', '{"a":"x\\ny"}'),
        ('{"a": NaN, "b": ' + "[" * 400 + "]" * 400 + "}", None),
    ],
)
def test_as_text_it_is_an_object_too(written: str, sent: str | None) -> None:
    """G8: servers parse them, and answer 500 for what is none."""
    if sent is None:
        assert as_text(written).startswith('{"_raw":')
    else:
        assert as_text(written) == sent
