"""What a recorded exchange was read with, as the core takes it."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proxy.core.backends.target import Target
from proxy.core.dialects.registry import DIALECTS
from proxy.core.profile import DEFAULT, FIELDS, BackendProfile, overridden
from proxy.core.recorded.lines import BadRecording
from proxy.core.recorded.recording import RecordedAttempt, RecordedKnown
from proxy.core.stored.named import Known, Named
from proxy.core.tenants import Tenant

_TENANT = TypeAdapter(Tenant)
_PROFILE = TypeAdapter(BackendProfile)

SOME_KEY = "a key that is not told"


def recorded_profile(profile: BackendProfile) -> dict[str, Any]:
    fields: dict[str, Any] = _PROFILE.dump_python(profile, mode="json")
    return {
        name: sorted(value) if isinstance(getattr(profile, name), frozenset) else value
        for name, value in fields.items()
    }


def recorded_tenant(tenant: Tenant) -> dict[str, Any]:
    fields: dict[str, Any] = _TENANT.dump_python(tenant, mode="json")
    return fields


def profile_of(attempt: RecordedAttempt) -> BackendProfile:
    """Fields that this version does not know are left out."""
    known = {name: value for name, value in attempt.profile.items() if name in FIELDS}
    try:
        profile = overridden(DEFAULT, known)
    except ValueError as error:
        raise BadRecording(f"The profile of a backend cannot be read: {error}.") from None
    if profile.dialect not in DIALECTS:
        raise BadRecording(f"No dialect is called {profile.dialect!r} here.")
    return profile


def tenant_of(fields: dict[str, Any]) -> Tenant:
    try:
        return _TENANT.validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadRecording(f"The rules of the tenant cannot be read: {first['msg']}.") from None


def target_of(attempt: RecordedAttempt, profile: BackendProfile) -> Target:
    key = None if attempt.key == "none" else SOME_KEY
    return Target(attempt.backend, attempt.url, profile, key=key, forwarded=attempt.key == "client")


def known_of(recorded: RecordedKnown | None) -> Known | None:
    if recorded is None:
        return None
    named = Named(
        recorded.previous, recorded.conversation, recorded.references, recorded.response, recorded.stores
    )
    return Known(named, recorded.history, recorded.items, recorded.memos)


def groups_of(attempts: Sequence[RecordedAttempt]) -> list[list[RecordedAttempt]]:
    """Groups the attempts that share one reply: what a refusal has taught is asked within the same attempt, unless the
    answer will be in another language."""
    groups: list[list[RecordedAttempt]] = []
    for attempt in attempts:
        if attempt.why == "lesson" and groups and _language(attempt) == _language(groups[-1][-1]):
            groups[-1].append(attempt)
        else:
            groups.append([attempt])
    return groups


def _language(attempt: RecordedAttempt) -> Any:
    return attempt.profile.get("dialect")
