"""Whatever the request and whichever the backend: what is sent is valid there, to the strictest reading."""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.backends.model_rules import for_model
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.chat.encode import encode
from proxy.core.dialects.writing.call_ids import CallIds
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Request,
    Role,
    Turn,
)
from proxy.core.profile import DEFAULT, BackendProfile, CallIdForm
from proxy.core.tools.prepare import prepare
from tests.properties.drawn_requests import replies, requests
from tests.support.strict_server import CALL_IDS, refuse
from tests.support.written import as_sent

MODELS = ("m", "mistral-large", "kimi-k3", "gemini-3", "gpt-5.6", "deepseek-v4", "gpt-oss")
EVERY_PROFILE = [
    *(profile for profile in PROFILES.values() if profile.dialect == "chat"),
    replace(
        DEFAULT, name="tags", replay="think_tags", join_users=False, late_system="merge", parallel="false"
    ),
    replace(DEFAULT, name="flat", orphan_tools="flatten", effort_field="template", auth="none"),
]


@given(
    request=requests(),
    base=st.sampled_from(EVERY_PROFILE),
    model=st.sampled_from(MODELS),
)
def test_what_is_sent_is_valid_there(request: Request, base: BackendProfile, model: str) -> None:
    profile = for_model(base, model)
    ledger = Ledger()
    try:
        prepared = prepare(request, profile, ledger)
        body = as_sent(encode(request, prepared, profile, model, ledger))
    except ClientFault:
        assume(False)  # tools or files that this backend has no place for: it is told so, nothing is sent
    refuse(body, profile)
    again = as_sent(encode(request, prepare(request, profile, ledger), profile, model, ledger))
    assert jsontext.dumps(body) == jsontext.dumps(again)


@given(profile=st.sampled_from([each for each in EVERY_PROFILE if each.max_tools]), said=replies())
def test_a_longer_conversation_begins_like_the_shorter_one(profile: BackendProfile, said: list[Turn]) -> None:
    """Prompt caches are by prefix: what was sent once is never sent differently later."""
    profile = replace(profile, images="none", files=False)
    begun = [(Role.SYSTEM, ["s"]), (Role.USER, ["u"])]
    shorter = Request("m", begun)
    longer = Request("m", [*begun, *said, (Role.USER, ["more"])])
    first, second = (
        encode(request, prepare(request, profile, Ledger()), profile, "m", Ledger())["messages"]
        for request in (shorter, longer)
    )
    assert second[: len(first) - 1] == first[:-1]
    assert second[len(first) - 1]["content"].startswith(first[-1]["content"])


@given(form=st.sampled_from(sorted(CALL_IDS)), call_ids=st.lists(st.text(), unique=True))
def test_every_id_fits_and_no_two_become_one(form: CallIdForm, call_ids: list[str]) -> None:
    ids = CallIds(form)
    upstream = [ids.upstream(call_id) for call_id in call_ids]
    assert all(CALL_IDS[form].fullmatch(each) for each in upstream)
    assert len(set(upstream)) == len(call_ids)
