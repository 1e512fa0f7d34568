"""An outgrown context window is recognised in every vendor's words, and nothing else is taken for one."""

from typing import Any

from proxy.core.dialects.reading import error_body, overflow
from tests.support.tables import table

NESTED = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "The prompt (length 5000) exceeds model's maximum context length (4096).",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "the prompt is longer than the context length currently available to the model",
    "The number of tokens in the prompt is greater than the context length.",
    "Trying to keep the first 5000 tokens when context the overflows.",
    "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.",
    "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
    "Prompt exceeds max length",
    "The request exceeds the model's maximum context length 128000",
    "invalid params, context window exceeds limit (2013)",
    "Range of input length should be [1, 98304]",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    "The prompt is too long: 140000, model maximum context length: 131072",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "prompt token count of 140000 exceeds the limit of 128000",
    "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - too many tokens",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
]

CODES: list[Any] = [
    {"error": {"message": "No.", "code": "context_length_exceeded"}},
    {"error": {"message": "No.", "type": "exceed_context_size_error", "code": 400}},
    {"error": {"message": "No.", "code": "model_max_prompt_tokens_exceeded"}},
    {"error": {"message": "No.", "code": 1261}},
    {"error": {"message": "No.", "code": "1261"}},
]

LOOK_ALIKES: list[Any] = [
    "Request too large for model `m` (TPM): Limit 6000, Requested 9000, please reduce the length of the messages",
    "Rate limit reached: 10000 tokens per minute, context window of 8192",
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
    "litellm.ContextWindowExceededError: Invalid 'id': string too long. Expected maximum length 40",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    {"error": {"message": "maximum context length", "code": "string_above_max_length"}},
    {"error": {"message": "Please reduce the length of the messages", "code": 429}},
    "'tools' : maximum number of items is 128",
    "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    {"error": {"message": "No such order: 1261"}},
    "",
]


@table("text", NESTED)
@table("shape", ["{text}", "message", "error"])
def test_every_vendors_words(text: str, shape: str) -> None:
    """F13: as plain text, nested, and as a string within a string."""
    said: Any = {
        "{text}": text,
        "message": {"error": {"message": text.upper()}},
        "error": {"error": {"message": "Provider returned error", "metadata": {"raw": text}}},
    }[shape]
    assert overflow.matches(error_body.of(said))


@table("said", CODES)
def test_codes_alone(said: Any) -> None:
    assert overflow.matches(error_body.of(said))


@table("said", LOOK_ALIKES, ids=str)
def test_look_alikes_are_none(said: Any) -> None:
    assert not overflow.matches(error_body.of(said))
