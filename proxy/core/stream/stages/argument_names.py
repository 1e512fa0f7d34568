"""A stage that gives the properties of a call's arguments the names that the client declared (`tools.aliases`).

It stands before all others, so that no other stage sees an alias. It holds a call to a tool with aliases until the call
has ended, because an alias may be cut anywhere.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proxy.core.events import CallHead, Event, PartEnded, PartStarted
from proxy.core.model import Call, ToolName
from proxy.core.schemas.aliases import renamed
from proxy.core.sink import Attach, Sink

Aliases = Mapping[ToolName, Mapping[str, str]]
"""By tool and by alias, the names of properties."""


def rename_arguments(aliases: Aliases) -> Attach:
    """Makes the stage for one reply."""

    def stage(sink: Sink) -> Sink:
        made = _Renaming(aliases, sink)
        return Sink(made.feed, made.delta)

    return stage


class _Renaming:
    __slots__ = ("_aliases", "_emit", "_names", "_pass_on")

    def __init__(self, aliases: Aliases, sink: Sink) -> None:
        self._aliases = aliases
        self._emit = sink.feed
        self._pass_on = sink.delta
        self._names: Mapping[str, str] | None = None
        """The names behind the aliases of the open call, if it has any."""

    def feed(self, event: Event) -> None:
        match event:
            case PartStarted(call=CallHead() as head):
                self._names = self._aliases.get(head.tool)
            case PartEnded(Call() as call) if self._names:
                text, self._names = renamed(call.arguments, self._names), None
                if text:
                    self._pass_on(text, None)
                event = replace(event, part=replace(call, arguments=text))
            case _:  # the rest has no arguments
                pass
        self._emit(event)

    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        if self._names is None:
            self._pass_on(text, logprobs)
