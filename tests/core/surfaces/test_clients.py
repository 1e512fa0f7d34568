"""R05: a client profile decides who gets the extended events; header and configuration decide otherwise."""

import pytest
from multidict import CIMultiDict

from proxy.core.errors import (
    ClientFault,
    Fault,
    OutOfQuota,
    Overloaded,
    ProxyFault,
    RateLimited,
    Timeout,
    Unreachable,
)
from proxy.core.events import Ending, ReplyEnded
from proxy.core.model import Usage
from proxy.core.surfaces import clients
from proxy.core.surfaces.clients import (
    AI_SDK,
    CODEX,
    DEFAULT,
    JAVA_SDK,
    NODE_SDK,
    OPENAI_SDK,
    PHP_SDK,
    EventStyle,
    Extended,
    ending_for,
    extended,
    recognise,
    reworded,
)
from tests.support.tables import table


@table(
    ("headers", "profile"),
    [
        ({}, DEFAULT),
        ({"User-Agent": "OpenAI/Python 3.51.0", "x-stainless-lang": "python"}, OPENAI_SDK),
        ({"User-Agent": "AsyncOpenAI/Python 3.51.0"}, OPENAI_SDK),
        ({"User-Agent": "OpenAI/Go 4.2.0"}, OPENAI_SDK),
        ({"user-agent": "com.openai.client/Java 5.1"}, OPENAI_SDK),
        ({"User-Agent": "my-agent/1.0", "X-Stainless-Retry-Count": "0"}, OPENAI_SDK),
        ({"User-Agent": "ai-sdk-openai/4.0.118 ai-sdk-provider-utils/5.0.81 node.js/24"}, AI_SDK),
        ({"User-Agent": "Cline/3.0 ai-sdk/openai-compatible/3.0.2"}, AI_SDK),
        ({"User-Agent": "GuzzleHttp/7"}, PHP_SDK),
        ({"User-Agent": "Symfony HttpClient (Curl)"}, PHP_SDK),
        ({"User-Agent": "curl/8.5.0"}, DEFAULT),
        ({"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)", "Accept": "text/event-stream"}, DEFAULT),
        ({"originator": "codex_exec"}, CODEX),
        ({"Originator": "codex-tui"}, CODEX),
        ({"originator": "Codex Desktop"}, CODEX),
        ({"originator": "some_codex"}, DEFAULT),
        ({"X-Codex-Window-Id": "w"}, CODEX),
        ({"x-stainless-lang": "js"}, NODE_SDK),
        ({"X-Stainless-Lang": "JS"}, NODE_SDK),
        ({"x-stainless-lang": "java"}, JAVA_SDK),
        ({"x-stainless-lang": "js", "originator": "codex_cli_rs"}, CODEX),
    ],
)
def test_clients_are_known_by_their_headers(headers, profile):
    """Whatever the case of a header's name; the first recogniser wins."""
    assert recognise(CIMultiDict(headers)) is profile


def test_what_each_known_client_gets():
    """Codex loses calls when it cuts a history, and keeps whatever is done; the others do neither."""
    assert (CODEX.orphan_outputs, CODEX.closes_unfinished) == ("drop", False)
    for profile in (NODE_SDK, OPENAI_SDK, DEFAULT):
        assert (profile.orphan_outputs, profile.closes_unfinished) == ("refuse", True)


AUTO, EXTENDED, STANDARD = EventStyle
ALL, CALLS, NOTHING = Extended(True, True), Extended(True, False), Extended(False, False)


@table(
    ("profile", "header", "configured", "tools", "expected"),
    [
        (DEFAULT, None, AUTO, True, ALL),
        (DEFAULT, None, AUTO, False, NOTHING),
        (OPENAI_SDK, None, AUTO, True, CALLS),
        (OPENAI_SDK, None, AUTO, False, NOTHING),
        (NODE_SDK, None, AUTO, True, NOTHING),
        (JAVA_SDK, None, AUTO, True, NOTHING),
        (PHP_SDK, None, AUTO, True, NOTHING),
        (AI_SDK, None, AUTO, True, NOTHING),
        (AI_SDK, "extended", AUTO, False, ALL),
        (CODEX, None, AUTO, True, NOTHING),
        (DEFAULT, None, STANDARD, True, NOTHING),
        (DEFAULT, None, EXTENDED, False, ALL),
        (OPENAI_SDK, None, EXTENDED, False, ALL),
        (NODE_SDK, None, EXTENDED, True, NOTHING),
        (NODE_SDK, "extended", AUTO, False, ALL),
        (OPENAI_SDK, "extended", AUTO, False, ALL),
        (DEFAULT, " Standard ", EXTENDED, True, NOTHING),
        (DEFAULT, "auto", STANDARD, True, ALL),
        (OPENAI_SDK, "auto", STANDARD, True, CALLS),
        (NODE_SDK, "auto", EXTENDED, True, NOTHING),
    ],
)
def test_v03_header_before_profile_before_configuration_before_tools(
    profile, header, configured, tools, expected
):
    """R05, row by row. A framework on an OpenAI SDK loses every call to what follows the terminal event. V45: a setting
    does not reach the Node SDK, which throws on what it does not know."""
    assert extended(profile, header, configured, tools) == expected


@table("header", ["", "on", "extended,standard"])
def test_a_header_that_means_nothing_is_refused(header):
    """Taken silently for a default, a spelling mistake would look like a missing feature."""
    with pytest.raises(ClientFault) as caught:
        extended(DEFAULT, header, AUTO, True)
    assert caught.value.param == clients.EVENTS_HEADER
    assert "auto, extended, standard" in caught.value.message


@table(
    ("fault", "code"),
    [
        (ClientFault("Too long.", code="context_length_exceeded"), "context_length_exceeded"),
        (OutOfQuota("Nothing left."), "insufficient_quota"),
        (RateLimited("Slow down."), "rate_limit_exceeded"),
        (Overloaded("Busy."), "slow_down"),
        (Timeout("Late."), "upstream_timeout"),
        (ProxyFault("Ours.", retryable=True), "server_error"),
        (ClientFault("No."), "invalid_prompt"),
        (ClientFault("No.", code="unsupported_value"), "invalid_prompt"),
        (Unreachable("No TLS.", retryable=False), "invalid_prompt"),
        (ProxyFault("Refused.", code="upstream_auth"), "invalid_prompt"),
    ],
)
def test_codex_reads_from_the_code_whether_to_try_again(fault: Fault, code: str) -> None:
    """What may pass is tried five times more, with its message; what cannot is told once, with its message."""
    told = reworded(CODEX, fault)
    assert told.code == code
    assert (told.message, told.param, told.retry_after) == (fault.message, fault.param, fault.retry_after)
    assert type(told) is type(fault)


def test_the_fault_itself_stays_as_it_was_for_the_log() -> None:
    fault = Overloaded("Busy.", retry_after=3)
    assert reworded(CODEX, fault).retry_after == 3
    assert fault.code == "server_is_overloaded"


@table("profile", [DEFAULT, NODE_SDK])
def test_everybody_else_is_told_the_code_that_it_is(profile: clients.ClientProfile) -> None:
    for fault in (Overloaded("Busy."), ClientFault("No.")):
        assert reworded(profile, fault) is fault


def test_codex_is_told_that_a_filtered_answer_will_be_filtered_again() -> None:
    """It would ask five times more, and show the beginning each time."""
    ended = ReplyEnded(Ending.FILTERED, Usage(1, 2, 3))
    told = ending_for(CODEX, ended)
    assert (told.ending, told.usage) == (Ending.FAILED, ended.usage)
    assert told.fault is not None
    assert told.fault.code == "invalid_prompt"
    assert "filter" in told.fault.message
    assert ending_for(DEFAULT, ended) is ended


@table("ending", [Ending.COMPLETED, Ending.MAX_TOKENS])
def test_any_other_ending_is_told_as_it_is(ending: Ending) -> None:
    ended = ReplyEnded(ending)
    assert ending_for(CODEX, ended) is ended


def test_a_failed_ending_has_its_fault_reworded() -> None:
    ended = ReplyEnded(Ending.FAILED, None, Overloaded("Busy."))
    told = ending_for(CODEX, ended)
    assert told.fault is not None
    assert (told.ending, told.fault.code) == (Ending.FAILED, "slow_down")


@table(
    ("headers", "query", "expected"),
    [
        ({}, {}, False),
        ({"x-stainless-lang": "js"}, {"other": "1"}, False),
        ({"originator": "codex_cli_rs"}, {}, True),
        ({}, {"client_version": "0.169.0"}, True),
    ],
)
def test_attack_25_v10_the_catalog_is_for_codex(
    headers: dict[str, str], query: dict[str, str], expected: bool
) -> None:
    assert clients.asks_for_catalog(CIMultiDict(headers), query) is expected
