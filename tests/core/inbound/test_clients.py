"""R05: a client profile decides who gets the extended events; header and configuration decide otherwise."""

import pytest

from proxy.core.errors import ClientFault
from proxy.core.inbound import clients
from proxy.core.inbound.clients import CODEX, DEFAULT, NODE_SDK, EventStyle, extended, recognise


@pytest.mark.parametrize(
    ("headers", "profile"),
    [
        ({}, DEFAULT),
        ({"User-Agent": "OpenAI/Python 3.51.0", "x-stainless-lang": "python"}, DEFAULT),
        ({"originator": "codex_exec"}, CODEX),
        ({"Originator": "codex-tui"}, CODEX),
        ({"originator": "Codex Desktop"}, CODEX),
        ({"originator": "some_codex"}, DEFAULT),
        ({"X-Codex-Window-Id": "w"}, CODEX),
        ({"x-stainless-lang": "js"}, NODE_SDK),
        ({"X-Stainless-Lang": "JS"}, NODE_SDK),
        ({"x-stainless-lang": "js", "originator": "codex_cli_rs"}, CODEX),
    ],
)
def test_clients_are_known_by_their_headers(headers, profile):
    """Whatever the case of a header's name; the first recogniser wins."""
    assert recognise(headers) is profile


def test_what_each_known_client_gets():
    """Codex loses calls when it cuts a history, and runs whatever call is done; the others do neither."""
    assert (CODEX.orphan_outputs, CODEX.partial_calls) == ("drop", False)
    assert (NODE_SDK.orphan_outputs, NODE_SDK.partial_calls) == ("refuse", True)
    assert (DEFAULT.orphan_outputs, DEFAULT.partial_calls) == ("refuse", True)


AUTO, EXTENDED, STANDARD = EventStyle


@pytest.mark.parametrize(
    ("profile", "header", "configured", "tools", "expected"),
    [
        (DEFAULT, None, AUTO, True, True),
        (DEFAULT, None, AUTO, False, False),
        (NODE_SDK, None, AUTO, True, False),
        (CODEX, None, AUTO, True, False),
        (DEFAULT, None, STANDARD, True, False),
        (DEFAULT, None, EXTENDED, False, True),
        (NODE_SDK, None, EXTENDED, True, False),
        (NODE_SDK, "extended", AUTO, False, True),
        (DEFAULT, " Standard ", EXTENDED, True, False),
        (DEFAULT, "auto", STANDARD, True, True),
        (NODE_SDK, "auto", EXTENDED, True, False),
    ],
)
def test_header_before_profile_before_configuration_before_tools(
    profile, header, configured, tools, expected
):
    """R05, row by row."""
    assert extended(profile, header, configured, tools) is expected


@pytest.mark.parametrize("header", ["", "on", "extended,standard"])
def test_a_header_that_means_nothing_is_refused(header):
    """Taken silently for a default, a spelling mistake would look like a missing feature."""
    with pytest.raises(ClientFault) as caught:
        extended(DEFAULT, header, AUTO, True)
    assert caught.value.param == clients.EVENTS_HEADER
    assert "auto, extended, standard" in caught.value.message
