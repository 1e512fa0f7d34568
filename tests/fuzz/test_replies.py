"""Whatever stands in whatever place of a backend's reply, its client gets one ending, last, and the numbers have no gap
(D02). All dialects, streamed and whole, towards all surfaces."""

from itertools import cycle

import pytest

from proxy.core import jsontext
from tests.fuzz.client import PATIENT, check_log, check_refusal, check_stream, connected
from tests.fuzz.dialects import DIALECTS, FAULTS, settings_of
from tests.fuzz.samples import ASKS, SAID
from tests.fuzz.wrong import spoiled, wire
from tests.support.proxies import StartProxy
from tests.support.sockets import END, HEAD, Line, ScriptedBackend, answer, http_chunk

ONE_IN = {"responses": 3, "chat": 5, "native": 5}
"""Of what can be wrong is tried towards each surface: the decoders are the same for all."""
BODY_ONE_IN = 2
CODEX = "originator: codex_cli_rs\r\n"
KINDS = ("", "x-stainless-lang: js\r\n", "x-proxy-events: extended\r\n", CODEX)
"""Of clients, one after another: each gets the events in its own way."""


def spoiled_streams(events: list[bytes], one_in: int) -> list[tuple[str, bytes]]:
    """Each event in turn with something wrong in it, the others as they are."""
    found = []
    for number, event in enumerate(events):
        head, _, data = event.rpartition(b"data: ")
        if not data.startswith(b"{"):
            continue
        for told, wrong in spoiled(jsontext.strict(data), one_in=one_in):
            whole = b"".join([*events[:number], head, b"data: ", wrong, b"\n\n", *events[number + 1 :]])
            found.append((f"event {number}: {told}", HEAD + http_chunk(whole) + END))
    return found


@pytest.mark.parametrize("surface", ASKS)
@pytest.mark.parametrize("profile", DIALECTS)
async def test_a_wrong_value_in_a_stream_leaves_one_ending(
    surface: str, profile: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    path, asked = ASKS[surface]
    body = wire(asked | {"stream": True})
    said = b""

    async def plays(line: Line) -> None:
        while True:
            await line.request()
            line.send(said)

    backend.plays(plays)
    proxy = await start_proxy(backend=settings_of(profile), **PATIENT)
    with connected(proxy) as client:
        spoiled_ones = spoiled_streams(DIALECTS[profile].stream(SAID), ONE_IN[surface])
        for (told, said), kind in zip(spoiled_ones, cycle(KINDS), strict=False):  # noqa: B007
            try:
                status, data = await client.ask("POST", path, body, kind)
                if status == 200:
                    check_stream("codex" if kind == CODEX and surface == "responses" else surface, data)
                else:
                    check_refusal(status, data, FAULTS)
            except Exception as failure:
                failure.add_note(f"{profile} to {surface} {kind!r}: {told}")
                raise
    check_log(proxy)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("profile", DIALECTS)
async def test_a_wrong_value_in_a_whole_answer_leaves_one_ending(
    profile: str, stream: bool, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    path, asked = ASKS["responses"]
    body = wire(asked | {"stream": stream})
    said = b""

    async def plays(line: Line) -> None:
        while True:
            await line.request()
            line.send(answer(200, said))

    backend.plays(plays)
    proxy = await start_proxy(backend=settings_of(profile), **PATIENT)
    with connected(proxy) as client:
        for told, said in spoiled(DIALECTS[profile].body(SAID), one_in=BODY_ONE_IN):  # noqa: B007
            try:
                status, data = await client.ask("POST", path, body)
                if status == 200 and stream:
                    check_stream("responses", data)
                elif status != 200:
                    check_refusal(status, data, FAULTS)
            except Exception as failure:
                failure.add_note(f"{profile}: {told}")
                raise
    check_log(proxy)
