"""Whatever stands in a backend's refusal, or in its list of models, is told as a fault of the backend or of the
request: never as ours, never with a traceback."""

import pytest

from tests.fuzz.client import PATIENT, check_log, check_refusal, connected
from tests.fuzz.dialects import DIALECTS, FAULTS, settings_of
from tests.fuzz.samples import ASKS
from tests.fuzz.wrong import spoiled, wire
from tests.support.proxies import StartProxy
from tests.support.sockets import Line, ScriptedBackend, answer

STATUSES = (400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 529)
FORMS = {
    "openai": {"error": {"message": "No.", "type": "t", "param": "p", "code": "c"}},
    "nested": {"error": {"message": '{"error":{"message":"No.","code":5}}', "metadata": {"raw": "No."}}},
    "pydantic": {"detail": [{"type": "missing", "loc": ["body", 0], "msg": "No.", "input": {}}]},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}},
    "google": [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "No.", "details": [{"reason": "r"}]}}],
    "plain": {"object": "error", "message": "No.", "base_resp": {"status_code": 5, "status_msg": "No."}},
}  # fmt: skip
ONE_IN = 4
LISTS = {
    "openrouter": {"object": "list", "data": [{"id": "m", "context_length": 5, "supported_parameters": ["tools"]}]},
    "anthropic": {"data": [{"type": "model", "id": "m", "max_input_tokens": 5}], "has_more": False, "last_id": "m"},
    "responses": {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "openai"}]},
    "google": {"models": [{"name": "models/m", "inputTokenLimit": 5, "supportedGenerationMethods": ["g"]}]},
}  # fmt: skip


@pytest.mark.parametrize("profile", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
async def test_any_refusal_is_a_fault_with_words(
    form: str, profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    path, asked = ASKS["responses"]
    body, status, said = wire(asked), 400, b""

    async def plays(line: Line) -> None:
        while True:
            await line.request()
            line.send(answer(status, said))

    backend.plays(plays)
    proxy = await start_proxy(backend=settings_of(profile), retries={"attempts": 1}, **PATIENT)
    with connected(proxy) as client:
        for number, (told, said) in enumerate(spoiled(FORMS[form], one_in=ONE_IN)):  # noqa: B007
            status = STATUSES[number % len(STATUSES)]
            try:
                seen, data = await client.ask("POST", path, body)
                check_refusal(seen, data, FAULTS)
            except Exception as failure:
                failure.add_note(f"{profile}: {status} {told}")
                raise
    check_log(proxy)


@pytest.mark.parametrize("profile", DIALECTS)
async def test_any_list_of_models_is_read_or_told_as_broken(
    profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    for told, said in spoiled(LISTS[profile], one_in=3):
        backend.answers(answer(200, said))
        proxy = await start_proxy(backend=settings_of(profile), **PATIENT)
        with connected(proxy) as client:
            status, data = await client.ask("GET", "/v1/models")
            if status != 200:
                check_refusal(status, data, FAULTS)
        try:
            check_log(proxy)
        except Exception as failure:
            failure.add_note(f"{profile}: {told}")
            raise
