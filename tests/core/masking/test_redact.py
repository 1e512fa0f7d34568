"""S06: what strangers say is shown without secrets, on one line, and not for ever."""

from proxy.core.masking.redact import MASK, MAX_QUOTE, MAX_SHOWN, as_name, masked, quotable, shown
from tests.support.quickness import quickly
from tests.support.tables import table

CANARY = "c4n4ryC4N4RY"


@table(
    "text",
    [
        f"Incorrect API key provided: sk-proj-{CANARY}.",
        f"Incorrect API key provided: sk-****{CANARY}.",
        f"Authorization: Bearer {CANARY}",
        f"got 'Bearer {CANARY}'",
        f"gsk_{CANARY} is expired",
        f"xai-{CANARY}, nvapi-{CANARY}, hf_{CANARY}{CANARY}, AIza{CANARY}, csk-{CANARY}, ghp_{CANARY}",
        f"token eyJhbGciOi.{CANARY}.x",
        f'{{"api_key": "{CANARY}"}}',
        f"api-key={CANARY} x-api-key: {CANARY}",
        f"invalid api key: {CANARY}",
        f'"authorization":"Bearer {CANARY}"',
        f"password={CANARY}&x=1",
        f"cannot reach https://user:{CANARY}@host/v1",
        f"GET /v1/models?key={CANARY}&alt=sse",
        f"access_token = {CANARY}",
    ],
)
def test_no_key_gets_through(text: str) -> None:
    assert CANARY not in masked(text)
    assert MASK in masked(text)
    assert CANARY not in quotable(text)


@table(
    "text",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "The API key is missing.",
        "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.",
        "property 'reasoning_content' is unsupported, see https://example.com/docs?page=2",
        "the risk-free task-runner desk-top of xai-org/grok-1 and hf_model",
        "a token that is no key: v1.Zm9vYmFyYmF6cXV4Zm9v-sk-YmFyYmF6cXV4Zm9vYmFy",
        "",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert masked(text) == text
    assert quotable(text) == text


def test_a_quote_is_one_line_without_control_characters() -> None:
    """S15."""
    assert quotable(" a\r\n\0\x1b[31mb\u2028c\x85d\ud83de ") == "a [31mb c d e"


def test_a_quote_is_cut_after_masking_so_that_no_part_of_a_key_is_left() -> None:
    quote = quotable("x" * (MAX_QUOTE - 10) + f" sk-{CANARY}{'y' * 100_000}")
    assert len(quote) <= MAX_QUOTE
    assert "sk-" not in quote
    assert quotable("x" * (MAX_QUOTE + 1)) == "x" * (MAX_QUOTE - 1) + "…"
    assert quotable("x" * MAX_QUOTE) == "x" * MAX_QUOTE


def test_a_clients_own_text_is_shown_by_its_beginning_and_without_keys() -> None:
    """S06: a message may reach a log."""
    assert shown("x" * MAX_SHOWN) == "x" * MAX_SHOWN
    assert shown("x" * (MAX_SHOWN + 1)) == "x" * (MAX_SHOWN - 1) + "…"
    assert shown(f"sk-{CANARY}") == MASK


@table(
    "text",
    ["/-" + "eyJaaaaa-" * 3_600, "eyJ" + "a" * 32_000, "eyJaaaaa." * 3_600, "://" + "a" * 32_000],
    ids=["many begun", "one", "dotted", "a host"],
)
def test_attack_05_what_only_begins_like_a_token_is_read_once(text: str) -> None:
    with quickly(0.1):
        masked(text)


@table("before", ["", "/", "=", "?token=", " ", "'", ":", "."])
def test_a_signed_token_is_masked_wherever_it_begins(before: str) -> None:
    assert CANARY not in masked(f"a{before or ' '}eyJhbGciOi.{CANARY}.x")


@table("text", ["gpt-5", "Qwen/Qwen3-Coder:free", "call_0123", "müller@eu+1", "a" * 128])
def test_what_can_be_a_name_is_told(text: str) -> None:
    assert as_name(text) == text


@table("text", ["", "two words", "a" * 129, "a\n", "what's up?", '{"a":1}'])
def test_attack_20_what_can_be_none_may_be_a_prompt(text: str) -> None:
    assert as_name(text) == "*"
