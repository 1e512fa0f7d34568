"""In what two profiles differ."""

from dataclasses import fields
from typing import Any

from proxy.core.profile import BackendProfile


def differences(profile: BackendProfile, other: BackendProfile) -> dict[str, Any]:
    return {
        each.name: getattr(profile, each.name)
        for each in fields(BackendProfile)
        if getattr(profile, each.name) != getattr(other, each.name)
    }
