"""The values of the known backends (chat-backends 2.3): what differs from the default, and nothing else does."""

from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.profile import DEFAULT
from tests.support.differing import differences
from tests.support.tables import table

OPENAI: dict[str, Any] = {
    "strict_tools": True,
    "system_role": "developer",
    "late_system": "keep",
    "length_field": "max_completion_tokens",
    "effort_field": "reasoning_effort",
    "effort_map": {"max": "xhigh"},
    "tuning": DEFAULT.tuning
    | {"verbosity", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"},
    "offers_responses": True,
    "length_least": 16,
    "media_results": True,
    "hosted_tools": {
        "web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11", "file_search",
        "code_interpreter", "image_generation", "mcp", "computer_use_preview", "computer",
    },
}  # fmt: skip
BESIDE_API = {"presence_penalty", "frequency_penalty", "seed", "stop"}
SWITCH = {"none": "disabled"} | dict.fromkeys(("minimal", "low", "medium", "high", "xhigh", "max"), "enabled")
DIFFERS: dict[str, dict[str, Any]] = {
    "default": {},
    "openai": OPENAI | {"files": True},
    "azure": OPENAI | {"auth": "api-key"},
    "azure-deployment": OPENAI | {"auth": "api-key", "query": {"api-version": "2024-10-21"}},
    "azure-responses": OPENAI
    | {"auth": "api-key", "wire": "responses", "query": {"api-version": "2025-04-01-preview"}},
    "vllm": {
        "offers_responses": True,
        "tuning_beside_api": BESIDE_API,
        "counter": "vllm",
        "strict_tools": True,
        "effort_field": "reasoning_effort",
        "replay": "reasoning",
        "replay_scope": "all",
        "call_id": "any",
    },
    "sglang": {
        "offers_responses": True,
        "counter": "sglang",
        "strict_tools": True,
        "effort_field": "reasoning_effort",
        "replay": "reasoning_content",
        "replay_scope": "all",
        "call_id": "any",
    },
    "llamacpp": {
        "offers_responses": True,
        "tuning_beside_api": BESIDE_API,
        "counter": "llamacpp",
        "force_tool": "required",
        "images": "data",
        "schema": {"plain", "bounded"},
        "effort_field": "reasoning_effort",
        "replay": "reasoning_content",
        "replay_scope": "all",
        "call_id": "any",
    },
    "ollama": {
        "offers_responses": True,
        "images": "data",
        "force_tool": "auto",
        "effort_field": "reasoning_effort",
        "replay": "reasoning",
        "first_byte_s": 1200,
    },
    "lmstudio": {
        "offers_responses": True,
        "force_tool": "required",
        "schema": {"plain", "bounded"},
        "formats": {"json_schema"},
    },
    "tgi": {"force_tool": "required", "length_default": 4096, "formats": set()},
    "deepseek": {
        "force_tool": "auto",
        "formats": {"json_object"},
        "images": "none",
        "effort_field": "thinking",
        "effort_map": {
            "none": "disabled",
            "minimal": "low",
            "low": "low",
            "medium": "high",
            "high": "high",
            "xhigh": "max",
            "max": "max",
        },
        "replay": "reasoning_content",
        "replay_scope": "all",
        "replay_blank": " ",
        "first_byte_s": 700,
    },
    "moonshot": {
        "force_tool": "auto",
        "schema": {"plain", "moonshot"},
        "effort_field": "thinking",
        "effort_map": SWITCH,
        "replay": "reasoning_content",
        "replay_blank": " ",
        "call_id": "any",
        "extra": dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty")),
    },
    "zai": {
        "force_tool": "auto",
        "formats": {"json_object"},
        "effort_field": "thinking",
        "effort_map": SWITCH,
        "replay": "reasoning_content",
        "extra": {"tool_stream": True, "thinking": {"clear_thinking": False}},
    },
    "minimax": {
        "force_tool": "auto",
        "formats": set(),
        "replay": "reasoning_content",
        "replay_scope": "all",
        "extra": {"reasoning_split": True},
    },
    "dashscope": {
        "force_tool": "auto",
        "formats": {"json_object"},
        "effort_field": "enable_thinking",
        "effort_map": SWITCH,
        "replay": "reasoning_content",
    },
    "mistral": {
        "strict_tools": True,
        "after_tool": "Done.",
        "usage": "never",
        "force_tool": "any",
        "schema": {"plain", "inline"},
        "effort_field": "reasoning_effort",
        "effort_map": {"none": "none", "minimal": "none"}
        | dict.fromkeys(("low", "medium", "high", "xhigh", "max"), "high"),
        "call_id": "alnum9",
        "tuning": DEFAULT.tuning - {"seed", "logprobs", "top_logprobs"},
    },
    "groq": {"strict_tools": True, "effort_field": "reasoning_effort"},
    "xai": {
        "offers_responses": True,
        "sealed_thoughts": True,
        "strict_tools": True,
        "effort_field": "reasoning_effort",
        "replay": "reasoning_content",
        "replay_scope": "all",
    },
    "cerebras": {
        "force_tool": "required",
        "length_field": "max_completion_tokens",
        "effort_field": "reasoning_effort",
        "effort_map": {"minimal": "low", "xhigh": "high", "max": "high"},
        "replay": "reasoning",
    },
    "together": {
        "force_tool": "required",
    },
    "chutes": {"force_tool": "required", "parallel": "false"},
    "fireworks": {
        "force_tool": "any",
        "schema": {"plain", "inline"},
        "effort_field": "reasoning_effort",
        "replay": "reasoning_content",
    },
    "openrouter": {
        "offers_responses": True,
        "sealed_thoughts": True,
        "force_tool": "required",
        "files": True,
        "effort_field": "reasoning",
        "replay": "reasoning_details",
    },
    "nim": {
        "force_tool": "required",
    },
    "litellm": {
        "force_tool": "required",
        "orphan_tools": "declare",
        "effort_field": "reasoning_effort",
        "replay": "reasoning_content",
    },
    "perplexity": {"force_tool": "required", "max_tools": 0, "orphan_tools": "flatten"},
    "copilot": {
        "offers_responses": True,
        "force_tool": "required",
        "length_field": "max_completion_tokens",
        "orphan_tools": "declare",
        "calls_in_other_choices": True,
    },
    "anthropic": {
        "counter": "anthropic",
        "dialect": "anthropic",
        "path": "/messages",
        "auth": "x-api-key",
        "late_system": "keep",
        "files": True,
        "replay": "reasoning_details",
        "call_id": "word",
        "audio": False,
        "schema": {"plain", "anthropic"},
        "formats": {"json_schema"},
        "effort_field": "thinking",
        "tuning": {"temperature", "top_p", "stop", "user", "service_tier"},
        "extra": {"cache_control": {"type": "ephemeral"}},
    },
    "google-chat": {"force_tool": "required", "effort_field": "reasoning_effort"},
    "google": {
        "counter": "google",
        "dialect": "google",
        "auth": "x-goog-api-key",
        "signed_calls": True,
        "call_id": "any",
        "schema": {"plain", "google"},
        "tool_names": "letter_first",
        "effort_field": "thinking",
        "tuning": DEFAULT.tuning | {"service_tier"},
    },
}
ADDRESS = {"name", "hosts", "root", "headers"}
"""Tested where they are used, in `test_target` and `test_recognise`."""


NOBODY_KNOWS = {"default", "lmstudio", "tgi", "together", "chutes", "nim"}
"""Whether these want reasoning back, their replies show."""

NOT_KNOWN_TO_LOSE_CALLS = {"default", "together"}
"""Beside a format of the answer: their replies show it."""
BOTH = {"openai", "azure", "azure-deployment", "azure-responses", "anthropic", "google"}
"""A format and tools."""


@table("name", sorted(PROFILES))
def test_a_profile_differs_from_the_default_exactly_so(name: str) -> None:
    found = differences(PROFILES[name], DEFAULT)
    assert found.pop("replay_by_evidence", True) == (name in NOBODY_KNOWS)
    assert found.pop("format_by_evidence", True) == (name in NOT_KNOWN_TO_LOSE_CALLS)
    assert found.pop("format_with_tools", True) == (name in NOT_KNOWN_TO_LOSE_CALLS | BOTH)
    assert {field: value for field, value in found.items() if field not in ADDRESS} == DIFFERS[name]


def test_every_profile_is_known_by_its_name() -> None:
    assert PROFILES.keys() == DIFFERS.keys()
    assert all(profile.name == name for name, profile in PROFILES.items())


def test_copilot_wants_to_be_told_who_asks() -> None:
    assert PROFILES["copilot"].headers.keys() == {"Copilot-Integration-Id", "Editor-Version"}
