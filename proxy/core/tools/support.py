"""What a backend cannot do in any way is refused before anything is sent, where the answer would be another without it.

All else it does, or the proxy does in another way with the same result (a forced call by leaving the other tools out, a
format by an instruction). Mere tuning is left out by the encoder, which counts it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.core.errors import Incompatible
from proxy.core.model import Audio, ChoiceMode, Request
from proxy.core.profile import BackendProfile


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    """The name of the feature in the API."""
    does: Callable[[BackendProfile], bool]
    needed_at: Callable[[Request], str | None]
    """Finds the path where the answer to a request depends on the feature."""
    complaint: str
    code: str | None = None
    """The code of the fault, where it is not about tools."""


def _wants_calls(request: Request) -> str | None:
    """Returns the list in which the first tool stands."""
    if not request.tools or request.choice.mode is ChoiceMode.NONE:
        return None
    return request.tools[0].path.rpartition("[")[0]


def _holds_sound(request: Request) -> str | None:
    said = (part for _, parts in request.turns for part in parts)
    return next((part.path for part in said if isinstance(part, Audio)), None)


FEATURES = (
    Feature(
        "tools",
        lambda profile: profile.max_tools > 0,
        _wants_calls,
        "cannot call tools; send the request without them",
    ),
    Feature(
        "input_audio",
        lambda profile: profile.audio,
        _holds_sound,
        "takes no audio; send a transcript instead",
        "unsupported_content",
    ),
)


def check(request: Request, profile: BackendProfile) -> None:
    """P02. Raises Incompatible."""
    missing = [
        (feature, path)
        for feature in FEATURES
        if not feature.does(profile) and (path := feature.needed_at(request)) is not None
    ]
    if missing:
        first, path = missing[0]
        raise Incompatible(
            f"{path}: the backend ({profile.name}) {first.complaint}, or choose a model of another backend.",
            code=first.code,
            param=path,
            details={"incompatible_features": sorted(feature.name for feature, _ in missing)},
        )
