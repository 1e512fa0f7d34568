"""Whatever stands in whatever place of a request, it is answered or refused in plain words: never a 500, never a
traceback. All surfaces, and a backend of each dialect behind them."""

import pytest

from tests.fuzz.client import PATIENT, check_log, check_refusal, connected
from tests.fuzz.samples import REQUESTS
from tests.fuzz.wrong import spoiled
from tests.support.proxies import StartProxy
from tests.support.sockets import ScriptedBackend, answer

ONE_IN = 3
"""Of what can be wrong is tried with each dialect; each surface's next dialect takes what this one left."""

PROFILES = {
    "openrouter": b'{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"{\\"a\\":\\"x\\"}"}}]}',
    "anthropic": b'{"type":"message","role":"assistant","content":[{"type":"text","text":"{\\"a\\":\\"x\\"}"}],'
    b'"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
    "google": b'{"candidates":[{"content":{"parts":[{"text":"{\\"a\\":\\"x\\"}"}]},"finishReason":"STOP"}]}',
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("surface", REQUESTS)
async def test_a_wrong_value_anywhere_is_answered_or_refused(
    surface: str, profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(answer(200, PROFILES[profile]))
    proxy = await start_proxy(backend={"profile": profile}, **PATIENT)
    path, document = REQUESTS[surface]
    tried = 0
    with connected(proxy) as client:
        for told, body in spoiled(document, one_in=ONE_IN):
            try:
                status, data = await client.ask("POST", path, body)
                if status != 200:
                    check_refusal(status, data, range(400, 500))
            except Exception as failure:
                failure.add_note(f"{surface}: {told}")
                raise
            tried += 1
    check_log(proxy)
    assert tried > 50
