"""F14: a backend's complaint names the field that the client wrote."""

from proxy.core.dialects.reading.error_body import ErrorBody
from proxy.core.dialects.reading.field_names import client_name
from tests.support.tables import table


@table(
    ("param", "name"),
    [
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("messages", "input"),
        ("messages[3].content", "input"),
        ("messages.[0].tool_calls", "input"),
        ("response_format.json_schema", "text.format"),
        ("reasoning_effort", "reasoning.effort"),
        ("tools[0].function.parameters", "tools"),
        ("tool_choice", "tool_choice"),
        ("temperature", "temperature"),
        ("", None),
        ("<b>", None),
        (None, None),
    ],
)
def test_a_field_that_is_told(param: str | None, name: str | None) -> None:
    assert client_name(ErrorBody("No.", param=param)) == name


@table(
    ("message", "name"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_output_tokens"),
        ("Unknown parameter: 'store'.", "store"),
        ("Unrecognized request argument supplied: verbosity", "text.verbosity"),
        ("property 'reasoning_effort' is unsupported", "reasoning.effort"),
        ("Extra inputs are not permitted, field: 'messages[2].reasoning'", "input"),
        ("Validation: Unsupported parameter(s): `seed`", "seed"),
        ("Model grok does not support parameter stop.", "stop"),
        ("The parameter is wrong.", None),
    ],
)
def test_a_field_that_stands_in_the_text(message: str, name: str | None) -> None:
    assert client_name(ErrorBody(message)) == name
