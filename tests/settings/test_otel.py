"""Settings of traces."""

from typing import Any

import pytest
from pydantic import ValidationError

from proxy.settings.otel import OtelSettings


def test_without_an_endpoint_there_are_no_traces() -> None:
    assert OtelSettings().endpoint is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": "localhost:4318"},
        {"endpoint": "http://localhost:4318/v1/traces?token=abcdefgh12345678ABCD"},
        {"ratio": 1.5},
        {"wait_seconds": 0},
        {"headers": {"a b": "c"}},
        {"headers": {"a": "b\n\x00"}},
        {"service": ""},
        {"protocol": "grpc"},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        OtelSettings.model_validate(wrong)


def test_the_collectors_key_is_not_shown() -> None:
    shown = repr(OtelSettings.model_validate({"headers": {"Authorization": "Bearer canary"}}))
    assert "canary" not in shown
