"""What a reply teaches of the model that gave it: where a server ignores a field, no refusal ever says so.

Such lessons are kept as those of refusals are: for a while, for the owner whose request taught them (see `learned`).
Still a client can make a model say anything. So a row may only choose between ways of asking that come to the same
where the server does as it is told: what is learned wrongly costs nobody anything, and the next reply takes it back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proxy.core.capabilities import BackendProfile, ForceTool
from proxy.core.errors import Empty, Unfit
from proxy.core.events import Ending, Reply
from proxy.core.model import Call, ChoiceMode, Request


@dataclass(frozen=True, slots=True)
class Observed:
    """One attempt at a request that has ended as its model wanted, whatever its client was told of it."""

    request: Request
    reply: Reply
    oddities: Mapping[str, int] = field(default_factory=dict)
    """What was strange in the stream, as it stands in the ledger."""


class ReplyRow(NamedTuple):
    name: str
    change: Callable[[BackendProfile, Observed], BackendProfile]
    """Gives back an equal profile where the reply says nothing new."""


def learn(
    rows: Sequence[ReplyRow], profile: BackendProfile, observed: Observed
) -> Iterator[tuple[str, BackendProfile]]:
    """The rows that change something, each with the profile that it makes."""
    ended = observed.reply.ended
    fault = ended.fault if ended else None
    if ended is None or (fault is not None and not isinstance(fault, Unfit | Empty)):
        return
    for row in rows:
        changed = row.change(profile, observed)
        if changed != profile:
            profile = changed
            yield row.name, changed


def _usage(profile: BackendProfile, observed: Observed) -> BackendProfile:
    """V26: some servers tell usage in whole answers only. A whole answer says the same as a stream of it."""
    ended = observed.reply.ended
    if profile.usage != "ask" or ended is None or ended.ending is not Ending.COMPLETED:
        return profile
    if asked_whole(observed.request, profile):
        return profile
    return replace(profile, usage_when_whole=ended.usage is None)


def asked_whole(request: Request, profile: BackendProfile) -> bool:
    """Not as a stream, which is how everything else is asked for."""
    return profile.usage_when_whole and not request.stream


_OTHER_FORCE: Mapping[ForceTool, ForceTool] = {"object": "required", "required": "object"}


def _force_tool(profile: BackendProfile, observed: Observed) -> BackendProfile:
    """V27, V35: who ignores one way to force a function may heed the other, in which only that one is declared."""
    choice = observed.request.choice
    if choice.mode is not ChoiceMode.REQUIRED or not choice.only or len(choice.only) > 1:
        return profile
    if any(isinstance(ended.part, Call) and ended.part.tool in choice.only for ended in observed.reply.parts):
        return profile
    return replace(profile, force_tool=_OTHER_FORCE.get(profile.force_tool, profile.force_tool))


CHAT: Sequence[ReplyRow] = (ReplyRow("usage", _usage), ReplyRow("force_tool", _force_tool))
