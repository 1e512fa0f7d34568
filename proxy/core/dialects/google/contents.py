"""Turns to contents, in the one order that Gemini accepts.

What comes out, whatever went in: roles `user` and `model` only, a user first and a user last; the results of a step in
one content, as many as there were calls, in their order, and nothing else in it; each signature on the part that it
came with. A part is never merged with another one, since either may be signed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from proxy.core import jsontext
from proxy.core.backends.listing import bare
from proxy.core.dialects.google import media as google_media
from proxy.core.dialects.google.media import GooglePart, MediaOrNote
from proxy.core.dialects.google.models import Traits
from proxy.core.dialects.google.signatures import DUMMY, Carrier, read
from proxy.core.dialects.writing import call_arguments
from proxy.core.dialects.writing.failed_results import failed
from proxy.core.dialects.writing.notes import CONTINUE, MOVED, PARTS, as_instruction, returned_by
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, Call, File, Image, Part, Reasoning, Refusal, Result, Role, Text, Turn
from proxy.core.profile import BackendProfile
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable

Content = dict[str, Any]
Waiting = dict[Carrier, str]
"""Holds signatures that were read before the part that they belong to."""

MAX_DEPTH = 30
"""Levels of a result that is sent as an object: parsers of such messages read few more, and refuse the request."""

REFERENCE = '"$ref"'
"""Gemini takes this key in a result for a reference to another part, and refuses the request."""


def encode_contents(
    turns: Sequence[Turn],
    names: NameTable,
    profile: BackendProfile,
    traits: Traits,
    model: str,
    ledger: Ledger,
    *,
    note: str | None = None,
) -> tuple[list[GooglePart], list[Content]]:
    """Writes instructions and conversation. `note`: an instruction of ours."""
    return _Conversation(names, profile, traits, bare(model), ledger).of(turns, note)


class _Conversation:
    def __init__(
        self, names: NameTable, profile: BackendProfile, traits: Traits, model: str, ledger: Ledger
    ) -> None:
        self._names = names
        self._profile = profile
        self._traits = traits
        self._model = model
        self._ledger = ledger
        self._called: dict[str, str] = {}
        """Says what was called, by the id of the call."""
        self._system: list[GooglePart] = []
        self._contents: list[Content] = []

    def of(self, turns: Sequence[Turn], note: str | None) -> tuple[list[GooglePart], list[Content]]:
        for role, parts in turns:
            TAKERS[role](self, parts)
        if not self._contents or self._contents[-1]["role"] == "model":
            self._user([{"text": CONTINUE}])
        if note:
            self._system.append({"text": note})
        if not self._traits.system:
            self._contents[0]["parts"][:0] = self._system
            self._system = []
        self._prove()
        return self._system, self._contents

    # ── what is said to the model ──────────────────────────────────────────────────────────────────────────────

    def _instruct(self, parts: Sequence[Part]) -> None:
        words = [part for part in parts if isinstance(part, str) and part]
        for part in parts:
            if not isinstance(part, str):
                self._ledger.drop("misplaced_part")
        if not self._contents or self._profile.late_system == "merge":
            self._system += [{"text": text} for text in words]
        elif words:
            self._user([{"text": as_instruction(PARTS.join(words))}])

    def _say(self, parts: Sequence[Part]) -> None:
        written: list[GooglePart] = []
        for part in parts:
            match part:
                case str():
                    written += [{"text": part}] if part else []
                case Image() | Audio() | File():
                    written.append(_as_part(google_media.of_user(part, self._profile, self._ledger)))
                case _:
                    self._ledger.drop("misplaced_part")
        self._user(written)

    def _user(self, parts: list[GooglePart]) -> None:
        last = self._contents[-1] if self._contents else None
        if not parts:
            return
        if last and last["role"] == "user" and "functionResponse" not in last["parts"][0]:
            last["parts"] += parts
        else:
            self._contents.append({"role": "user", "parts": parts})

    # ── what the model said ────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, parts: Sequence[Part]) -> None:
        written: list[GooglePart] = []
        waiting: Waiting = {}
        for part in parts:
            match part:
                case Text() | Refusal():
                    if part.text:
                        written.append({"text": part.text} | _signed(waiting.pop("text", None)))
                case Call():
                    written += _late(waiting)
                    written.append(self._call(part) | _signed(waiting.pop("call", None)))
                case Reasoning():
                    self._remember(part, written, waiting)
                case _:
                    self._ledger.drop("misplaced_part")
        written += _late(waiting)
        if waiting:
            self._ledger.drop("signature")
        self._model_content(written)

    def _remember(self, thought: Reasoning, written: list[GooglePart], waiting: Waiting) -> None:
        """Takes a thought. Its words are not sent: what the model needs of them is in the signatures."""
        signatures = read(thought.extras, self._model) if self._profile.signed_calls else []
        if not signatures:
            self._ledger.drop("reasoning")
        for value, carrier in signatures:
            match carrier:
                case "thought":
                    written.append({"text": thought.text, "thought": True} | _signed(value))
                case "end":
                    written.append({"text": ""} | _signed(value))
                case _:
                    if carrier in waiting:  # what it came with is no longer there
                        self._ledger.drop("signature")
                    waiting[carrier] = value

    def _model_content(self, parts: list[GooglePart]) -> None:
        if not parts:
            return
        if self._contents and self._contents[-1]["role"] == "model":
            self._contents[-1]["parts"] += parts
            return
        if not self._contents:
            self._user([{"text": CONTINUE}])
        self._contents.append({"role": "model", "parts": parts})

    def _call(self, call: Call) -> GooglePart:
        name = self._called[call.call_id] = self._names.upstream(call.tool, call.kind)
        arguments = call_arguments.as_object(BRIDGES[call.kind].to_function(call.arguments))
        return {"functionCall": {"id": call.call_id, "name": name, "args": arguments}}

    # ── what its tools returned ────────────────────────────────────────────────────────────────────────────────

    def _results(self, parts: Sequence[Part]) -> None:
        responses: list[GooglePart] = []
        moved: list[GooglePart] = []
        for part in parts:
            if isinstance(part, Result):
                responses.append({"functionResponse": self._response(part, moved)})
            else:
                self._ledger.drop("misplaced_part")
        if responses:
            self._contents.append({"role": "user", "parts": responses})
        self._user(moved)

    def _response(self, result: Result, moved: list[GooglePart]) -> Content:
        name = self._called[result.call_id]  # `surfaces.reading.history` has seen to it that there is one
        words: list[str] = []
        inside: list[GooglePart] = []
        outside: list[GooglePart] = []
        for part in result.content:
            if isinstance(part, str):
                words.append(part)
                continue
            media = google_media.of_tool(part, self._profile, self._ledger)
            if isinstance(media, str):
                words.append(media)
            elif self._traits.media_in_results and google_media.fits_result(media):
                inside.append(media)
            else:
                outside.append(media)
        if outside:
            words.append(MOVED)
            moved += [{"text": returned_by(name)}, *outside]
        text = PARTS.join(words)
        response = {"error": text} if failed(result) else {"output": _output(text)}
        media_parts = {"parts": inside} if inside else {}
        return {"id": result.call_id, "name": name, "response": response} | media_parts

    # ── signatures ─────────────────────────────────────────────────────────────────────────────────────────────

    def _prove(self) -> None:
        """Signs the first call of each step since the user last spoke, with a stand-in where the signature is lost.

        Where real ones were refused, the older steps get one as well, because it is not known which was meant.
        """
        if self._profile.signed_calls and not self._traits.signed:
            return
        since = _last_words(self._contents) if self._profile.signed_calls else 0
        for content in self._contents[since:]:
            first = next((part for part in content["parts"] if "functionCall" in part), None)
            if first is not None:
                first.setdefault("thoughtSignature", DUMMY)


TAKERS: Mapping[Role, Callable[[_Conversation, Sequence[Part]], None]] = {
    Role.SYSTEM: _Conversation._instruct,
    Role.DEVELOPER: _Conversation._instruct,
    Role.USER: _Conversation._say,
    Role.ASSISTANT: _Conversation._assistant,
    Role.TOOL: _Conversation._results,
}


def _last_words(contents: Sequence[Mapping[str, Any]]) -> int:
    """Finds where the current turn begins: the last content in which the user, not a tool, said something."""
    indices = [
        index
        for index, content in enumerate(contents)
        if content["role"] == "user" and any("functionResponse" not in part for part in content["parts"])
    ]
    return indices[-1]


def _as_part(media: MediaOrNote) -> GooglePart:
    return {"text": media} if isinstance(media, str) else media


def _late(waiting: Waiting) -> list[GooglePart]:
    """Writes a signature that came within a text that had begun without it: no text follows that is its own."""
    return [{"text": ""} | _signed(waiting.pop("text"))] if "text" in waiting else []


def _signed(signature: str | None) -> GooglePart:
    return {"thoughtSignature": signature} if signature else {}


def _output(text: str) -> str | orjson.Fragment:
    """Writes what a tool returned: an object where it is one, because the model then reads it as such, else the
    text."""
    if not text.lstrip().startswith("{") or REFERENCE in text:
        return text
    try:
        value = jsontext.strict(text)
    except ValueError:
        return text
    return text if jsontext.deeper_than(value, MAX_DEPTH) else orjson.Fragment(text)
