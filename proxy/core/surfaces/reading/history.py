"""The order that every backend accepts, whatever order the client's items came in.

Consecutive assistant turns become one. The turn after it answers each of its calls, in call order: results are taken
from wherever they stand, missing ones are made up, and a call id that is used twice is replaced. Turns of other roles
keep their place, each by itself. A history that is in this order already comes out unchanged.

    call A, call B, "text", result B, user, result A   →   [call A, call B, "text"] [result A, result B] [user]

Only the result of a tool that nobody waits for (`async`) stays where it came: the model has gone on without it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name, shown
from proxy.core.model import (
    ASSISTANT,
    TOOL,
    USER,
    Audio,
    Call,
    File,
    Image,
    Part,
    Reasoning,
    Refusal,
    Result,
    Role,
    Text,
    ToolName,
    Turn,
)

OrphanOutputs = Literal["refuse", "drop"]

MISSING_RESULT = "aborted"
ABORTED = "The history has calls without their outputs: the model was told that they were aborted."
"""Stands for a result that the client does not have: Codex writes it for a call that it could not run. It is marked as
failed for backends that have such a mark: the model must not take the word for what the tool found."""

PENDING_RESULT = "The tool is still at work. Go on without its result, which will come later."
"""Stands for the result of a tool that nobody waits for. A model that read of an abort would call it again."""

NAMELESS = "call"
"""Stem for calls whose id is an empty string, which no backend takes."""

SPOKEN = (Text, Refusal, Reasoning)


def canonical(
    said: list[Turn],
    ledger: Ledger,
    orphan_outputs: OrphanOutputs = "refuse",
    path_of: Callable[[int], str] = "messages[{}]".format,
    unawaited: Collection[ToolName] = (),
) -> list[Turn]:
    """The turns in the order that every backend accepts. Codex loses calls when it cuts a history, so its orphaned
    outputs are dropped; other clients' are refused. `path_of` makes of a place the path of the call id there, which
    complaints name. `unawaited`: tools whose results may come in a later turn."""
    if not ledger.details and (turns := _as_they_came(said)) is not None:
        return turns
    history = _History(said, ledger, unawaited)
    for place, (role, parts) in enumerate(said):
        if role is ASSISTANT:
            history.reply(parts)
        elif role is TOOL:
            history.results(parts, place)
        elif parts:
            history.other((role, parts))
    history.settle(orphan_outputs, path_of)
    return history.turns


def _as_they_came(said: list[Turn]) -> list[Turn] | None:
    """The turns of a history in which each call has an id of its own, and its result in the next turn: of nearly every
    one. There is nothing to be moved, made up or replaced, in a third of the time. None for any other history."""
    turns: list[Turn] = []
    called: list[str] = []
    answered: list[str] = []
    waiting = 0
    speaker: Role | None = None
    grows: list[Part] = []
    """The parts of the newest turn, where it is the model's or the tools'."""
    for turn in said:
        role, parts = turn
        if role is ASSISTANT:
            if waiting and speaker is not ASSISTANT:
                return None
            for part in parts:
                if type(part) is Call:
                    called.append(part.call_id)
                    waiting += 1
                elif not (type(part) is Text and part.text) and _is_empty(part):
                    continue
                if speaker is not ASSISTANT:
                    speaker, grows = ASSISTANT, []
                    turns.append((ASSISTANT, grows))
                grows.append(part)
        elif role is TOOL:
            for part in parts:
                if type(part) is not Result or not waiting:
                    return None
                answered.append(part.call_id)
                waiting -= 1
                if speaker is not TOOL:
                    speaker, grows = TOOL, []
                    turns.append((TOOL, grows))
                grows.append(part)
        elif parts:
            if waiting:
                return None
            speaker = role
            turns.append(turn)
    in_order = answered == called and len(set(called)) == len(called) and "" not in called
    return turns if in_order else None


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result, or had it."""

    call: Call
    turn: Turn
    answers: list[Part]
    """The results of this turn's calls, in their order; until one comes, another stands in its place."""
    place: int
    next: "_Asked | None" = None
    """The call that the next result of the same id answers."""


class _History:
    __slots__ = (
        "_answers",
        "_ledger",
        "_newest",
        "_open",
        "_said",
        "_spoken",
        "_strays",
        "_taken",
        "_unawaited",
        "_uses",
        "_waiting",
        "turns",
    )

    def __init__(self, said: list[Turn], ledger: Ledger, unawaited: Collection[ToolName]) -> None:
        self._said = said
        self._ledger = ledger
        self._unawaited = unawaited
        self.turns: list[Turn] = []
        self._open: Turn | None = None
        """The assistant turn that still grows: no result of its calls has come yet."""
        self._spoken: Turn | None = None
        """The newest turn that is no result."""
        self._answers: list[Part] = []
        """The results of the open turn's calls, which are the turn after it."""
        self._newest: dict[str, _Asked] = {}
        """By the client's id: the call that came last."""
        self._waiting: dict[str, _Asked] = {}
        """By the client's id: the first call that waits for its result, those of the newest turn before the others."""
        self._strays: list[tuple[Result, int]] = []
        self._uses: dict[str, int] = {}
        """By the client's id, where it was replaced: the number in the last replacement."""
        self._taken: set[str] | None = None

    def reply(self, parts: list[Part]) -> None:
        for part in parts:
            if type(part) is Call:
                turn = self._open or self._begun()
                turn[1].append(self._call(part, turn))
            elif not _is_empty(part):
                turn = self._open or self._begun()
                turn[1].append(part)

    def _begun(self) -> Turn:
        self._open = self._spoken = ASSISTANT, []
        self._answers = []
        self.turns.append(self._open)
        return self._open

    def results(self, parts: list[Part], place: int) -> None:
        for part in parts:
            if isinstance(part, Result):
                asked = self._asked(part)
                if asked is None:
                    self._strays.append((part, place))
                elif asked.call.tool in self._unawaited and asked.turn is not self._spoken:
                    self._make_up(asked)
                    self._append(_late(asked.call, part))
                else:
                    self._answer(asked, part)
                    if asked.turn is self._open:
                        self._open = None

    def other(self, turn: Turn) -> None:
        self._spoken = turn
        self._append(turn)

    def _append(self, turn: Turn) -> None:
        self._open = None
        self.turns.append(turn)

    def settle(self, orphan_outputs: OrphanOutputs, path_of: Callable[[int], str]) -> None:
        """Pairs results that stand before their call. A result without any call is an orphan, and for a call without
        any result one is made up."""
        for result, place in self._strays:
            if (asked := self._asked(result)) is not None:
                self._answer(asked, result)
            elif orphan_outputs == "refuse":
                raise _orphan(result, path_of(place), known=result.call_id in self._newest)
            else:
                self._ledger.drop("orphan_output")
        for asked in self._waiting.values():
            unanswered: _Asked | None = asked
            while unanswered is not None:
                self._make_up(unanswered)
                unanswered = unanswered.next

    def _call(self, call: Call, turn: Turn) -> Call:
        said_id = call.call_id
        last = self._newest.get(said_id)
        if last is not None or not said_id:
            call = replace(call, call_id=self._fresh(said_id))
        answers = self._answers
        if not answers:
            self.turns.append((TOOL, answers))
        asked = self._newest[said_id] = _Asked(call, turn, answers, len(answers))
        answers.append(call)
        if last is None:
            self._waiting[said_id] = asked
        elif last.turn is turn:  # an open turn has no results: the last one waits still
            asked.next, last.next = last.next, asked
        else:
            asked.next, self._waiting[said_id] = self._waiting.get(said_id), asked
        if self._ledger.details:
            self._ledger.log.debug("input_call", name=as_name(call.tool.name), call_id=as_name(call.call_id))
        return call

    def _fresh(self, said_id: str) -> str:
        """Makes id_2, id_3 …, which are the same in each request of a growing conversation."""
        if self._taken is None:
            self._taken = {
                part.call_id for _, parts in self._said for part in parts if isinstance(part, Call)
            }
        uses = self._uses.get(said_id, 1 if said_id else 0) + 1
        while (call_id := f"{said_id or NAMELESS}_{uses}") in self._taken:
            uses += 1
        self._taken.add(call_id)
        self._uses[said_id] = uses
        self._ledger.odd("call_id_replaced")
        return call_id

    def _asked(self, result: Result) -> _Asked | None:
        """Takes the call that waits for a result: among those with its id the newest turn's, and within that turn the
        first."""
        asked = self._waiting.pop(result.call_id, None)
        if asked is not None and asked.next is not None:
            self._waiting[result.call_id] = asked.next
        return asked

    def _answer(self, asked: _Asked, result: Result) -> None:
        call_id = asked.call.call_id
        asked.answers[asked.place] = result if result.call_id == call_id else replace(result, call_id=call_id)
        if self._ledger.details:
            self._ledger.log.debug("input_output", call_id=as_name(call_id), bytes=_size(result))

    def _make_up(self, asked: _Asked) -> None:
        asked.answers[asked.place] = self._made_up(asked.call)

    def _made_up(self, call: Call) -> Result:
        if call.tool in self._unawaited:
            self._ledger.odd("output_pending")
            return Result(call.call_id, [PENDING_RESULT])
        self._ledger.odd("missing_output")
        self._ledger.warn(ABORTED)
        return Result(call.call_id, [MISSING_RESULT], is_error=True)


def _is_empty(part: Part) -> bool:
    """Has it no words, and nothing else for a backend either?"""
    return isinstance(part, SPOKEN) and not part.text and not (isinstance(part, Reasoning) and part.extras)


def _late(call: Call, result: Result) -> Turn:
    """The result of a call from which the model has gone on. No backend takes a second one for the same call."""
    return USER, [f"The result of the call {call.call_id} of {call.tool.name}:", *result.content]


def _orphan(result: Result, path: str, *, known: bool) -> ClientFault:
    call_id = shown(result.call_id)
    if known:
        return ClientFault(
            f"The function call with call_id {call_id} at {path} already has its output: leave one out.",
            param=path,
            code="invalid_value",
        )
    # OpenAI's words for the Responses API, and its param: clients compare them.
    words = f"No tool call found for function call output with call_id {call_id}."
    where = path.partition("[")[0]
    if where != "input":
        words += f" Send the call of {path} too, or leave its output out."
    return ClientFault(words, param=where)


def _size(result: Result) -> int:
    size = 0
    for part in result.content:
        text = part if isinstance(part, str) else _payload(part)
        size += len(text) if text.isascii() else len(text.encode(errors="replace"))
    return size


def _payload(part: Image | File | Audio) -> str:
    if isinstance(part, Image):
        return part.url
    if isinstance(part, Audio):
        return part.data
    return part.data or part.url or part.id or ""
