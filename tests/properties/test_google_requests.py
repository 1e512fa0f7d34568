"""Whatever the request, and whichever generation of Gemini: what is sent is valid there, to the strictest reading."""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.backends.model_rules import for_model
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.google.encode import encode
from proxy.core.dialects.google.signatures import as_extras
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Part, Reasoning, Request, Role
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import prepare
from tests.properties.drawn_requests import requests
from tests.scripted.google_rules import refuse_body

MODELS = (
    "gemini-4-pro",
    "gemini-3.5-flash",
    "gemini-3-pro-preview",
    "gemini-3-pro-image-preview",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.0-flash",
    "gemma-3-27b-it",
    "my-alias",
)
GOOGLE = PROFILES["google"]
EVERY_PROFILE = (
    GOOGLE,
    replace(GOOGLE, signed_calls=False, images="data", format_with_tools=False),
    replace(GOOGLE, schema=frozenset({"plain", "google_proto"}), late_system="merge", images="none"),
)
places = st.sampled_from(["call", "text", "thought", "end", "elsewhere"])


@st.composite
def signed_requests(draw: st.DrawFn, model: str) -> Request:
    """A conversation in which the model left its signatures here and there, and another model some of its own."""
    request = draw(requests())
    turns = []
    for role, said in request.turns:
        parts: list[Part] = []
        for part in said:
            if role is Role.ASSISTANT and draw(st.booleans()):
                whose = draw(st.sampled_from([model, "gemini-3-flash"]))
                parts.append(
                    Reasoning(draw(st.sampled_from(["", "Hm"])), as_extras("U0lH", draw(places), whose))
                )
            parts.append(part)
        turns.append((role, parts))
    sampling = replace(request.sampling, top_p=draw(st.sampled_from([None, 0.5, 1.0])))
    return replace(request, turns=turns, sampling=sampling)


@given(data=st.data(), base=st.sampled_from(EVERY_PROFILE), model=st.sampled_from(MODELS))
def test_what_is_sent_is_valid_there(data: st.DataObject, base: BackendProfile, model: str) -> None:
    request = data.draw(signed_requests(model))
    profile = for_model(base, model)
    ledger = Ledger()
    try:
        body = encode(request, prepare(request, profile, ledger), profile, model, ledger)
    except ClientFault:
        assume(False)  # files or schemas that this backend has no place for: it is told so, nothing is sent
    sent = jsontext.dumps(body)
    received = jsontext.strict(sent)
    refuse_body(received, model)
    again = encode(request, prepare(request, profile, ledger), profile, model, ledger)
    assert sent == jsontext.dumps(again)
    calls = [part for _, parts in request.turns for part in parts if isinstance(part, Call)]
    told = [part for content in received["contents"] for part in content["parts"] if "functionCall" in part]
    assert [part["functionCall"]["id"] for part in told] == [call.call_id for call in calls]
