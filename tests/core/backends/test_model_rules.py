"""A model brings its vendor's quirks along wherever it is served."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.model_rules import for_model, profile_of
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.profile import DEFAULT
from tests.support.differing import differences
from tests.support.tables import table

SEALED: dict[str, Any] = {"sealed_thoughts": True, "summaries": True}
WAYS: dict[str, Any] = {"effort_map": {}, "ways_of_thinking": True}
LATEST = SEALED | {"native_tools": {"custom", "allowed_tools", "shell", "apply_patch", "namespace"}}


@table(
    ("name", "model", "changes"),
    [
        ("default", "llama-4", {}),
        ("openai", "gpt-4.1", {}),
        ("default", "devstral-2", {"after_tool": "Done.", "call_id": "alnum9"}),
        ("vllm", "mistralai/Magistral-Small", {"after_tool": "Done.", "call_id": "alnum9"}),
        ("openrouter", "mistralai/codestral", {"after_tool": "Done.", "call_id": "alnum9"}),
        ("together", "deepseek-ai/DeepSeek-V4", {"replay": "reasoning_content", "replay_blank": " "}),
        ("vllm", "deepseek-v4-flash", {"replay_blank": " "}),
        ("nim", "deepseek-v4", {"replay": "reasoning_content", "replay_blank": " "}),
        ("groq", "deepseek-v4", {}),
        ("deepseek", "deepseek-r1", {"replay": "none", "replay_blank": None}),
        (
            "together",
            "moonshotai/Kimi-K2",
            {"replay": "reasoning_content", "replay_blank": " ", "schema": {"plain", "moonshot"}},
        ),
        ("groq", "moonshotai/kimi-k2", {"schema": {"plain", "moonshot"}}),
        (
            "nim",
            "moonshotai/kimi-k2",
            {
                "replay": "reasoning_content",
                "replay_blank": " ",
                "schema": {"plain", "moonshot"},
                "parallel": "false",
            },
        ),
        (
            "moonshot",
            "kimi-k3",
            {
                "effort_field": "reasoning_effort",
                "effort_map": {
                    "none": None,
                    "minimal": "low",
                    "low": "low",
                    "medium": "high",
                    "high": "high",
                    "xhigh": "max",
                    "max": "max",
                },
            },
        ),
        ("litellm", "gemini/gemini-3-pro", {"schema": {"plain", "gemini"}, "signed_calls": True}),
        ("openai", "gpt-5.4", LATEST | {"thinks_beside_tools": False}),
        ("openai", "gpt-6.1-sol", LATEST | WAYS | {"thinks_beside_tools": False}),
        ("azure-deployment", "gpt-5.6", LATEST | WAYS | {"thinks_beside_tools": False}),
        ("openai", "gpt-5-mini", SEALED | {"native_tools": {"custom", "allowed_tools"}}),
        (
            "openai",
            "gpt-5.2-codex",
            SEALED | {"wire": "responses", "native_tools": LATEST["native_tools"] - {"namespace"}},
        ),
        ("openai", "codex-mini-latest", SEALED | {"wire": "responses", "native_tools": {"local_shell"}}),
        ("openai", "o3-pro", SEALED | {"wire": "responses"}),
        (
            "openai",
            "gpt-5.2-pro-2025-12-11",
            SEALED | {"wire": "responses", "native_tools": LATEST["native_tools"] - {"namespace"}},
        ),
        ("azure", "gpt-5.6-pro", LATEST | WAYS | {"wire": "responses", "thinks_beside_tools": False}),
        ("openai", "gpt-5-chat-latest", {}),
        ("openai", "gpt-4.1", {}),
        ("openrouter", "openai/gpt-5.6", {}),
        ("deepseek", "deepseek-vision-preview", {"images": "any"}),
        (
            "minimax",
            "MiniMax-M3",
            {
                "effort_field": "thinking",
                "effort_map": {"none": "disabled"}
                | dict.fromkeys(("minimal", "low", "medium", "high", "xhigh", "max"), "adaptive"),
            },
        ),
        (
            "groq",
            "qwen/qwen3-32b",
            {
                "effort_map": {"none": "none"}
                | dict.fromkeys(("minimal", "low", "medium", "high", "xhigh", "max"), "default")
            },
        ),
        (
            "groq",
            "openai/gpt-oss-120b",
            {"effort_map": {"minimal": "low", "xhigh": "high", "max": "high", "none": None}},
        ),
        ("groq", "llama-3.3-70b", {"effort_field": "none"}),
        ("xai", "grok-4.5", {"effort_map": {"minimal": "low", "xhigh": "high", "max": "high", "none": None}}),
    ],
)
def test_a_model_brings_its_vendors_quirks_along(name: str, model: str, changes: dict[str, Any]) -> None:
    assert differences(for_model(PROFILES[name], model), PROFILES[name]) == changes


def test_a_profile_with_no_rule_for_the_model_is_itself() -> None:
    assert for_model(DEFAULT, "llama-4") is DEFAULT


def test_what_is_set_by_hand_stays() -> None:
    """A model's own rule would set it otherwise."""
    target = Target("b", "http://localhost/v1", DEFAULT, overrides={"call_id": "any"})
    assert profile_of(target, "devstral").call_id == "any"
    assert profile_of(target, "devstral").after_tool == "Done."
    assert profile_of(replace(target, overrides={}), "devstral").call_id == "alnum9"
