"""The capability matrix: what a request may ask for, and how a backend can do it.

Each row is a feature. A backend does it, or does it in another way with the same result (a forced call by leaving the
other tools out, a format by an instruction), or cannot. The proxy refuses what the backend cannot do, before anything
is sent, if the answer would be another one without it. Mere tuning is left out by the encoder, which counts it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from proxy.core.errors import Incompatible
from proxy.core.model import Audio, ChoiceMode, Request
from proxy.core.profile import BackendProfile


class Ability(Enum):
    NATIVE = "yes"
    OTHERWISE = "otherwise"
    NONE = "no"


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    """The name of the feature in the API."""
    failing: Ability
    """The ability of backends that do not do it as it is asked for."""
    does: Callable[[BackendProfile], bool]
    needed_at: Callable[[Request], str | None] | None = None
    """Finds the path where a request depends on the feature. None for tuning, and for what every backend can do in
    some way."""
    complaint: str = ""
    code: str | None = None
    """The code of the fault, where it is not about tools."""

    def ability(self, profile: BackendProfile) -> Ability:
        return Ability.NATIVE if self.does(profile) else self.failing


def _wants_calls(request: Request) -> str | None:
    """Returns the list in which the first tool stands."""
    if not request.tools or request.choice.mode is ChoiceMode.NONE:
        return None
    return request.tools[0].path.rpartition("[")[0]


def _holds_sound(request: Request) -> str | None:
    parts = (part for turn in request.turns for part in turn.parts)
    return next((part.path for part in parts if isinstance(part, Audio)), None)


FEATURES = (
    Feature(
        "tools",
        Ability.NONE,
        lambda profile: profile.max_tools > 0,
        _wants_calls,
        "cannot call tools; send the request without them",
    ),
    Feature("tool_choice.none", Ability.OTHERWISE, lambda profile: profile.force_tool != "auto"),
    Feature("tool_choice.required", Ability.OTHERWISE, lambda profile: profile.force_tool != "auto"),
    Feature("tool_choice.function", Ability.OTHERWISE, lambda profile: profile.force_tool == "object"),
    Feature("parallel_tool_calls", Ability.NONE, lambda profile: profile.parallel != "omit"),
    Feature("strict", Ability.NONE, lambda profile: profile.strict_tools or "anthropic" in profile.schema),
    Feature("custom", Ability.OTHERWISE, lambda profile: "custom" in profile.native_tools),
    Feature("input_image", Ability.OTHERWISE, lambda profile: profile.images != "none"),
    Feature("input_file", Ability.OTHERWISE, lambda profile: profile.files),
    Feature(
        "input_audio",
        Ability.NONE,
        lambda profile: profile.audio,
        _holds_sound,
        "takes no audio; send a transcript instead",
        "unsupported_content",
    ),
    Feature("json_schema", Ability.OTHERWISE, lambda profile: "json_schema" in profile.formats),
    Feature("json_object", Ability.OTHERWISE, lambda profile: "json_object" in profile.formats),
)

ESSENTIAL = tuple((feature, feature.needed_at) for feature in FEATURES if feature.needed_at)
"""Features that cannot be dropped, each with the function that finds where a request depends on it."""


def matrix(profile: BackendProfile) -> dict[str, Ability]:
    return {feature.name: feature.ability(profile) for feature in FEATURES}


def check(request: Request, profile: BackendProfile) -> None:
    """P02. Raises Incompatible for what the answer depends on and the backend cannot do in any way."""
    missing: list[tuple[Feature, str]] = []
    for feature, needed_at in ESSENTIAL:
        if not feature.does(profile) and (path := needed_at(request)) is not None:
            missing.append((feature, path))
    if missing:
        first, path = missing[0]
        raise Incompatible(
            f"{path}: the backend ({profile.name}) {first.complaint}, or choose a model of another backend.",
            code=first.code,
            param=path,
            details={"incompatible_features": sorted(feature.name for feature, _ in missing)},
        )
