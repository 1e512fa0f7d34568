"""The known backends: what differs from the default, and nothing else.

Hosted services change any week, so each value is only where we start; lessons correct it from the backend's own
refusals. The fields and their defaults are explained in `core.profile`; what a model brings along wherever it is served
stands in `model_rules`.
"""

from collections.abc import Mapping
from dataclasses import replace

from proxy.core.backends.efforts import THINKING_SWITCH, THREE_LEVELS, efforts
from proxy.core.profile import DEFAULT, TUNING, BackendProfile, SchemaRule

_TEMPLATES: frozenset[SchemaRule] = frozenset({"plain", "bounded"})
"""Serves backends that compile schemas into llama.cpp's grammars."""
_INLINED: frozenset[SchemaRule] = frozenset({"plain", "inline"})
_MOONSHOT: frozenset[SchemaRule] = frozenset({"plain", "moonshot"})
_ANTHROPIC: frozenset[SchemaRule] = frozenset({"plain", "anthropic"})

_KNOWN = replace(DEFAULT, replay_by_evidence=False, format_with_tools=False, format_by_evidence=False)
"""The base of well-known backends. Of any other nobody knows yet whether it wants reasoning back, and whether it makes
calls when a format is asked for."""
_FORMAT_WINS = replace(DEFAULT, format_with_tools=False, format_by_evidence=False)
"""The engines of these hold a model to the format from its first token on."""
_HOSTED = frozenset(
    {
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "file_search",
        "code_interpreter",
        "image_generation",
        "mcp",
        "computer_use_preview",
        "computer",
    }
)

_OPENAI = replace(
    _KNOWN,
    system_role="developer",
    late_system="keep",
    length_field="max_completion_tokens",
    strict_tools=True,
    format_with_tools=True,
    effort_field="reasoning_effort",
    effort_map={"max": "xhigh"},
    tuning=TUNING
    | {"verbosity", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"},
    offers_responses=True,
    length_least=16,
    hosted_tools=_HOSTED,
    media_results=True,
)
_AZURE = replace(_OPENAI, auth="api-key", root="/openai/v1")
_ALL_TUNING = TUNING - {"logprobs", "top_logprobs", "temperature", "top_p"}

PROFILES: Mapping[str, BackendProfile] = {
    profile.name: profile
    for profile in (
        DEFAULT,
        replace(
            _KNOWN,
            name="anthropic",
            counter="anthropic",
            dialect="anthropic",
            hosts=("api.anthropic.com", "*/anthropic", "*/anthropic/", "*/anthropic/v1", "*/v1/messages"),
            path="/messages",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},  # the one that compatible servers know
            late_system="keep",
            files=True,
            replay="reasoning_details",
            call_id="word",
            audio=False,
            schema=_ANTHROPIC,
            formats=frozenset({"json_schema"}),
            format_with_tools=True,
            effort_field="thinking",
            tuning=frozenset({"temperature", "top_p", "stop", "user", "service_tier"}),
            extra={"cache_control": {"type": "ephemeral"}},  # nothing is read from the cache unasked
        ),
        replace(_OPENAI, name="openai", hosts=("api.openai.com", "*.api.openai.com"), files=True),
        replace(
            _AZURE,
            name="azure-deployment",
            hosts=("*.azure.com/openai/deployments/*",),
            query={
                "api-version": "2024-10-21"
            },  # the last dated version of the kind that is generally available
        ),
        replace(
            _AZURE,
            name="azure-responses",
            hosts=("*.azure.com/openai", "*.azure.com/openai/", "*.azure.com/openai/responses"),
            root="/openai",
            wire="responses",  # by a dated version there is Chat for deployments only
            query={"api-version": "2025-04-01-preview"},
        ),
        replace(
            _AZURE,
            name="azure",
            hosts=("*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"),
        ),
        replace(
            _KNOWN,
            name="vllm",
            offers_responses=True,
            tuning_beside_api=_ALL_TUNING,
            counter="vllm",
            strict_tools=True,
            effort_field="reasoning_effort",
            replay="reasoning",
            replay_scope="all",
            call_id="any",
        ),
        replace(
            _KNOWN,
            name="sglang",
            offers_responses=True,
            counter="sglang",
            strict_tools=True,
            effort_field="reasoning_effort",
            replay="reasoning_content",
            replay_scope="all",
            call_id="any",
        ),
        replace(
            _KNOWN,
            name="llamacpp",
            offers_responses=True,
            tuning_beside_api=_ALL_TUNING,
            counter="llamacpp",
            force_tool="required",
            images="data",
            schema=_TEMPLATES,
            effort_field="reasoning_effort",
            replay="reasoning_content",
            replay_scope="all",
            call_id="any",
        ),
        replace(
            _KNOWN,
            name="ollama",
            offers_responses=True,
            hosts=("ollama.com",),
            images="data",
            force_tool="auto",
            effort_field="reasoning_effort",
            replay="reasoning",
            first_byte_s=1200,  # it loads the model first
        ),
        replace(
            _FORMAT_WINS,
            name="lmstudio",
            offers_responses=True,
            force_tool="required",
            schema=_TEMPLATES,
            formats=frozenset({"json_schema"}),
        ),
        replace(_FORMAT_WINS, name="tgi", force_tool="required", length_default=4096, formats=frozenset()),
        replace(
            _KNOWN,
            name="deepseek",
            hosts=("api.deepseek.com",),
            root="",
            images="none",
            force_tool="auto",
            formats=frozenset({"json_object"}),
            effort_field="thinking",
            effort_map=efforts("disabled", "low", "low", "high", "max"),
            replay="reasoning_content",
            replay_scope="all",
            replay_blank=" ",
            first_byte_s=700,  # it gives up after ten minutes itself, and says so
        ),
        replace(
            _KNOWN,
            name="moonshot",
            hosts=("api.moonshot.*", "api.kimi.com"),
            force_tool="auto",
            schema=_MOONSHOT,
            effort_field="thinking",
            effort_map=THINKING_SWITCH,
            replay="reasoning_content",
            replay_blank=" ",
            call_id="any",
            extra={"temperature": None, "top_p": None, "presence_penalty": None, "frequency_penalty": None},
        ),
        replace(
            _KNOWN,
            name="zai",
            hosts=("api.z.ai", "open.bigmodel.cn"),
            root="/api/paas/v4",
            force_tool="auto",
            formats=frozenset({"json_object"}),
            effort_field="thinking",
            effort_map=THINKING_SWITCH,
            replay="reasoning_content",
            extra={"tool_stream": True, "thinking": {"clear_thinking": False}},
        ),
        replace(
            _KNOWN,
            name="minimax",
            hosts=("api.minimax*",),
            force_tool="auto",
            formats=frozenset(),
            replay="reasoning_content",
            replay_scope="all",
            extra={"reasoning_split": True},
        ),
        replace(
            _KNOWN,
            name="dashscope",
            hosts=("dashscope*.aliyuncs.com", "*.maas.aliyuncs.com"),
            root="/compatible-mode/v1",
            force_tool="auto",
            formats=frozenset({"json_object"}),
            effort_field="enable_thinking",
            effort_map=THINKING_SWITCH,
            replay="reasoning_content",
        ),
        replace(
            _KNOWN,
            name="mistral",
            strict_tools=True,
            hosts=("api.mistral.ai",),
            after_tool="Done.",
            usage="never",
            force_tool="any",
            schema=_INLINED,
            effort_field="reasoning_effort",
            effort_map=efforts("none", "none", "high", "high", "high"),
            call_id="alnum9",
            tuning=TUNING
            - {"seed", "logprobs", "top_logprobs"},  # closed schema: 422 for what it does not list
        ),
        replace(
            _KNOWN,
            name="groq",
            strict_tools=True,
            hosts=("api.groq.com",),
            root="/openai/v1",
            effort_field="reasoning_effort",
        ),
        replace(
            _KNOWN,
            name="xai",
            offers_responses=True,
            sealed_thoughts=True,
            strict_tools=True,
            hosts=("api.x.ai",),
            effort_field="reasoning_effort",
            replay="reasoning_content",
            replay_scope="all",
        ),
        replace(
            _KNOWN,
            name="cerebras",
            force_tool="required",
            hosts=("api.cerebras.ai",),
            length_field="max_completion_tokens",
            effort_field="reasoning_effort",
            effort_map=THREE_LEVELS,
            replay="reasoning",
        ),
        replace(DEFAULT, name="together", force_tool="required", hosts=("api.together.*",)),
        replace(_FORMAT_WINS, name="chutes", force_tool="required", hosts=("*.chutes.ai",), parallel="false"),
        replace(
            _KNOWN,
            name="fireworks",
            hosts=("api.fireworks.ai",),
            root="/inference/v1",
            force_tool="any",
            schema=_INLINED,
            effort_field="reasoning_effort",
            replay="reasoning_content",
        ),
        replace(
            _KNOWN,
            name="openrouter",
            offers_responses=True,
            sealed_thoughts=True,
            force_tool="required",
            hosts=("openrouter.ai",),
            root="/api/v1",
            files=True,
            effort_field="reasoning",
            replay="reasoning_details",
        ),
        replace(_FORMAT_WINS, name="nim", force_tool="required", hosts=("integrate.api.nvidia.com",)),
        replace(
            _KNOWN,
            name="litellm",
            force_tool="required",
            orphan_tools="declare",
            effort_field="reasoning_effort",
            replay="reasoning_content",
        ),
        replace(
            _KNOWN,
            name="perplexity",
            force_tool="required",
            hosts=("api.perplexity.ai",),
            root="",
            max_tools=0,
            orphan_tools="flatten",
        ),
        replace(
            _KNOWN,
            name="copilot",
            offers_responses=True,
            force_tool="required",
            hosts=("*.githubcopilot.com", "copilot-api.*"),
            root="",
            headers={"Copilot-Integration-Id": "vscode-chat", "Editor-Version": "vscode/1.105.0"},
            length_field="max_completion_tokens",
            orphan_tools="declare",
            calls_in_other_choices=True,
        ),
        replace(
            _KNOWN,
            name="google-chat",
            force_tool="required",  # Gemini's own endpoint for clients of OpenAI's
            hosts=("generativelanguage.googleapis.com/*openai*",),
            effort_field="reasoning_effort",
        ),
        replace(
            _KNOWN,
            name="google",
            counter="google",
            dialect="google",
            hosts=("generativelanguage.googleapis.com",),
            root="/v1beta",
            auth="x-goog-api-key",
            signed_calls=True,
            call_id="any",
            schema=frozenset({"plain", "google"}),
            tool_names="letter_first",
            format_with_tools=True,
            effort_field="thinking",
            tuning=TUNING | {"service_tier"},
        ),
    )
}
