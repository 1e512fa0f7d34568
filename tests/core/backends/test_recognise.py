"""chat-backends 3.1 and 3.2: which backend it is, from its URL, its models or harmless questions."""

from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.recognise import PROBES, ProbeAnswer, by_models, by_probes, by_url
from tests.support.tables import table


@table(
    ("host", "name"),
    [
        ("api.openai.com", "openai"),
        ("eu.api.openai.com", "openai"),
        ("API.OpenAI.com", "openai"),
        ("api.openai.com.", "openai"),
        ("r.openai.azure.com", "azure"),
        ("r.services.ai.azure.com", "azure"),
        ("r.cognitiveservices.azure.com", "azure"),
        ("api.deepseek.com", "deepseek"),
        ("api.moonshot.ai", "moonshot"),
        ("api.moonshot.cn", "moonshot"),
        ("api.kimi.com", "moonshot"),
        ("api.z.ai", "zai"),
        ("open.bigmodel.cn", "zai"),
        ("api.minimax.io", "minimax"),
        ("api.minimaxi.com", "minimax"),
        ("dashscope.aliyuncs.com", "dashscope"),
        ("dashscope-intl.aliyuncs.com", "dashscope"),
        ("plan.maas.aliyuncs.com", "dashscope"),
        ("api.mistral.ai", "mistral"),
        ("api.groq.com", "groq"),
        ("api.cerebras.ai", "cerebras"),
        ("api.together.xyz", "together"),
        ("api.together.ai", "together"),
        ("api.fireworks.ai", "fireworks"),
        ("openrouter.ai", "openrouter"),
        ("api.x.ai", "xai"),
        ("integrate.api.nvidia.com", "nim"),
        ("llm.chutes.ai", "chutes"),
        ("api.perplexity.ai", "perplexity"),
        ("api.githubcopilot.com", "copilot"),
        ("api.business.githubcopilot.com", "copilot"),
        ("copilot-api.corp.example", "copilot"),
        ("ollama.com", "ollama"),
        ("localhost", None),
        ("notapi.openai.com.example", None),
        ("myopenrouter.ai", None),
    ],
)
def test_a_known_host_needs_no_asking(host: str, name: str | None) -> None:
    assert by_url(f"https://{host}/some/path?x=1") == name


@table(
    ("path", "name"),
    [
        ("", "google"),
        ("/v1beta", "google"),
        ("/v1", "google"),
        ("/v1beta/openai", "google-chat"),
        ("/v1beta/openai/", "google-chat"),
        ("/v1beta/openai/chat/completions", "google-chat"),
    ],
)
def test_google_is_asked_in_its_own_language_unless_the_path_is_that_of_chat(path: str, name: str) -> None:
    assert by_url(f"https://generativelanguage.googleapis.com{path}") == name


def test_an_azure_deployment_is_known_by_its_path() -> None:
    assert by_url("https://r.openai.azure.com/openai/deployments/d") == "azure-deployment"
    assert by_url("https://r.openai.azure.com/openai/v1") == "azure"
    assert by_url("https://r.openai.azure.com/openai/v1/responses") == "azure"
    for old in ("", "/", "/responses?api-version=2025-03-01-preview"):
        assert by_url(f"https://r.openai.azure.com/openai{old}") == "azure-responses"


@table(
    ("listing", "headers", "name"),
    [
        ({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 1}]}, {}, "vllm"),
        ({"data": [{"id": "m", "owned_by": "sglang"}]}, {}, "sglang"),
        ({"data": [{"id": "m", "owned_by": "llamacpp"}]}, {}, "llamacpp"),
        ({"data": [{"id": "m", "owned_by": "organization_owner"}]}, {}, "lmstudio"),
        ({"models": [{}], "data": [{"id": "m", "meta": {"n_ctx": 4096}}]}, {}, "llamacpp"),
        ({"data": []}, {"Server": "llama.cpp"}, "llamacpp"),
        ({"data": [{"max_model_len": 1, "permission": []}]}, {}, "vllm"),
        ({"data": [{"max_model_len": 1}]}, {}, "sglang"),
        ({"data": [{}, {"context_length": 1, "pricing": {}, "supported_parameters": []}]}, {}, "openrouter"),
        ({"models": [{"name": "models/m", "supportedGenerationMethods": []}]}, {}, "google"),
        ({"data": [{"id": "m"}]}, {"X-LiteLLM-Version": "1"}, "litellm"),
        ([{"owned_by": "vllm"}], {}, "vllm"),
        ({"data": [{"id": "m", "owned_by": "library"}]}, {"Server": "uvicorn"}, None),
        ({"data": [{"owned_by": ["vllm"]}, "m", None]}, {}, None),
        ({"data": "m"}, {}, None),
        ("nothing", {}, None),
        (None, {}, None),
    ],
)
def test_a_list_of_models_tells_whose_it_is(listing: Any, headers: dict[str, str], name: str | None) -> None:
    assert by_models(listing, headers) == name


YES: dict[str, Any] = {
    "/props": {"default_generation_settings": {"n_ctx": 1}, "total_slots": 1},
    "/api/version": {"version": "0.9"},
    "/api/v1/models": {"models": [{"loaded_instances": []}]},
    "/model_info": {"model_path": "m"},
    "/info": {"max_total_tokens": 1},
    "/health/liveliness": "I'm alive!",
    "/version": {"version": "0.11"},
}


@table("probe", PROBES, ids=lambda probe: probe.path)
def test_each_probe_proves_its_server_and_nothing_else(probe: Any) -> None:
    assert probe.profile in PROFILES
    nothing = {each.path: ProbeAnswer(404, {"error": {}}) for each in PROBES}
    assert by_probes(nothing | {probe.path: ProbeAnswer(200, YES[probe.path])}) == probe.profile
    assert by_probes(nothing | {probe.path: ProbeAnswer(200, {"hello": "world"})}) is None
    assert by_probes(nothing | {probe.path: ProbeAnswer(200, None)}) is None


def test_a_guarded_path_exists() -> None:
    nothing = {each.path: ProbeAnswer(404, None) for each in PROBES}
    assert by_probes(nothing | {"/props": ProbeAnswer(401, None)}) == "llamacpp"
    assert by_probes(nothing | {"/props": ProbeAnswer(403, None)}) == "llamacpp"


def test_where_everything_is_guarded_only_the_port_can_tell() -> None:
    guarded = {each.path: ProbeAnswer(401, None) for each in PROBES}
    assert by_probes(guarded) is None
    assert by_probes(guarded, port=11434) == "ollama"
    assert by_probes(guarded, port=9999) is None


def test_the_port_alone_is_never_proof() -> None:
    assert by_probes({each.path: ProbeAnswer(404, None) for each in PROBES}, port=11434) is None
    assert by_probes({}, port=11434) is None


def test_one_guarded_answer_that_came_alone_proves_nothing() -> None:
    assert by_probes({"/props": ProbeAnswer(401, None)}) is None
