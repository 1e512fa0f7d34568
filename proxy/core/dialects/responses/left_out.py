"""What the final response says and the events have left out.

An item that was streamed may stand in the final response under another id, in another place, or not at all. So only
what cannot have been said before is added: nothing is more confusing than to be told, or to call, the same twice.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from proxy.core.dialects.responses import entries
from proxy.core.dialects.responses.entries import ARGUMENTS, MESSAGE, REFUSAL, TEXT, Json, Voice
from proxy.core.dialects.responses.growing import Growing
from proxy.core.jsontext import BadJson
from proxy.core.ledger import Ledger

RestOf = Callable[[Voice, str], str | None]


def of(
    items: Sequence[Json],
    output: Sequence[Json],
    streamed: Sequence[Growing],
    rest_of: RestOf,
    ledger: Ledger,
) -> list[Json]:
    """Of these items of the final output, which none of the streamed ones is by name, those that are new.

    `rest_of` tells what a whole text has beyond all that was said in a voice; None if it says something else.
    """
    kinds = Counter(growing.kind for growing in streamed)
    calls = _Calls(output, streamed, ledger)
    found: list[Json] = []
    if any(entries.kind_of(item) is MESSAGE for item in items):
        found += _messages(output, rest_of, ledger)
    for item in items:
        kind = entries.kind_of(item)
        if kind is MESSAGE:
            continue
        if calls.is_new(item) if kind in entries.CALLS else not kinds[kind]:
            found.append(item)
    return found


def _messages(output: Sequence[Json], rest_of: RestOf, ledger: Ledger) -> list[Json]:
    """One message of all that was not said. What all messages say together is compared, wherever one of them ends."""
    whole: dict[Voice, list[str]] = {}
    for item in output:
        if entries.kind_of(item) is MESSAGE:
            for voice, texts in entries.said_in(item, MESSAGE).items():
                whole.setdefault(voice, []).extend(texts)
    parts: list[Json] = []
    for voice, kind, member in ((TEXT, "output_text", "text"), (REFUSAL, "refusal", "refusal")):
        rest = rest_of(voice, "".join(whole[voice])) if voice in whole else ""
        if rest is None:
            ledger.odd("text_differs")
        elif rest:
            parts.append({"type": kind, member: rest})
    return [{"type": str(MESSAGE), "content": parts}] if parts else []


class _Calls:
    def __init__(self, output: Sequence[Json], streamed: Sequence[Growing], ledger: Ledger) -> None:
        made = [growing for growing in streamed if growing.kind in entries.CALLS]
        self._made = Counter((growing.name, str(growing.said(ARGUMENTS))) for growing in made)
        self._more = sum(entries.kind_of(item) in entries.CALLS for item in output) - len(made)
        self._ledger = ledger

    def is_new(self, item: Json) -> bool:
        kind = entries.kind_of(item)
        assert kind is not None
        try:
            key = entries.called_name(item), entries.arguments_of(item, kind) or ""
        except BadJson:
            return True
        if self._made[key]:
            self._made[key] -= 1
            return False
        if self._more <= 0:
            self._ledger.odd("arguments_differ")
            return False
        self._more -= 1
        return True
