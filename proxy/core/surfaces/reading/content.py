"""Content parts, read by a table `type → function`.

Content that is understood but cannot be passed on is refused, never left out in silence: a model that did not see the
picture would answer all the same. Only part types that no table knows are counted and ignored.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quoted
from proxy.core.model import Audio, File, Image, OutputFormat, Part, Reasoning, Refusal, Text, ToolName
from proxy.core.surfaces.memory.tokens import TokenReader
from proxy.core.surfaces.reading.checks import (
    FieldFault,
    mapping,
    missing,
    optional_string_in,
    string_in,
    too_many,
    unsupported,
    wrong_type,
    wrong_value,
)

MAX_PARTS = 50_000
"""Parts in one request. A part takes about a microsecond, so this many delay other streams by 50 ms."""

AUDIO_SUBTYPES = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav", "x-m4a": "m4a"}
"""Media subtypes, each with the name that Chat Completions has for the format."""

FILE_KEYS = ("file_data", "file_url", "file_id")
"""Members that may hold a file. The first that is there counts."""

MEDIA = (Image, File, Audio)
MEDIA_PARTS = (str, *MEDIA)
ASSISTANT_PARTS = (Text, Refusal, Reasoning)
PART_NAMES: Mapping[type[Part], str] = {
    str: "text",
    Text: "text",
    Refusal: "refusals",
    Reasoning: "reasoning",
    Image: "images",
    File: "files",
    Audio: "audio",
}
"""The names of parts in complaints that say which parts are allowed."""

Json = dict[str, Any]
PartReader = Callable[[Json], Part]


@dataclass(slots=True)
class InputCursor:
    """A walk over one request's input: where it stands, what it may still meet, and what it found besides turns."""

    ledger: Ledger
    tokens: TokenReader | None = None
    """Reads what the proxy gave the client to keep. None: on this surface nothing is given."""
    among: str = "input"
    """The list whose items are walked over."""
    item: int = 0
    last: int = 0
    before: int = 0
    """The number of items that the client did not send, because the proxy still knew them."""
    indices: Sequence[int] | None = None
    """Of the others, where each stands in what the client has sent. None: they are all that it has sent."""
    parts_left: int = MAX_PARTS
    run: Callable[[], Collection[str]] = tuple
    """Returns the types of tools that the backend runs itself."""
    hosted: bool | None = None
    """Does it run any, so that it can read what they did? None: nobody has asked."""
    compact: bool = False
    """Does the request ask for a compaction?"""
    called: dict[tuple[str, str | None], ToolName] = field(default_factory=dict)
    """The names that were called, each once."""
    tools: list[tuple[list[Any], str]] = field(default_factory=list)
    """Lists of tools that stood among the items, each with its path."""
    effort: str | None = None
    """The newest among the items, which goes before the request's own."""
    format: OutputFormat | None = None
    """Likewise."""

    def path(self, inside: str = "") -> str:
        """The path, in the client's own request, of something inside the item that is being read."""
        if self.item < self.before:
            return "previous_response_id"
        index = self.item - self.before
        return f"{self.among}[{index if self.indices is None else self.indices[index]}]{inside}"

    def path_of_call(self, item: int) -> str:
        """The path of the call id of another item, where the client has sent that."""
        self.item = item
        return self.path(".call_id") if item >= self.before else self.among


def _text(part: Json) -> str:
    return string_in(part, "text")


def _refusal(part: Json) -> Refusal:
    return Refusal(string_in(part, "refusal"))


def _reasoning(part: Json) -> Reasoning:
    return Reasoning(string_in(part, "text"))


def _image(part: Json) -> Image:
    source = part.get("image_url")
    if isinstance(source, dict):  # the Chat form, which people mix in
        return _image_url(part)
    if source is None and part.get("file_id") is not None:
        raise unsupported(
            ".file_id",
            "cannot be looked up, files are not stored here: send the image as image_url, for instance a data URL.",
        )
    return Image(string_in(part, "image_url"), optional_string_in(part, "detail"), ".image_url")


def _image_url(part: Json) -> Image:
    """An image in Chat's form, or with the bare URL in the place of the object."""
    source = part.get("image_url")
    if source is None:
        raise missing(".image_url", "an object with the url")
    if isinstance(source, str):
        return Image(source, optional_string_in(part, "detail"), ".image_url")
    url = string_in(mapping(source, ".image_url"), "url", ".image_url")
    return Image(url, optional_string_in(source, "detail", ".image_url"), ".image_url.url")


def read_file(part: Json) -> File:
    file = File(
        name=optional_string_in(part, "filename"),
        data=optional_string_in(part, "file_data"),
        url=optional_string_in(part, "file_url"),
        id=optional_string_in(part, "file_id"),
    )
    if file.data is None and file.url is None and file.id is None:
        raise missing(".file_data", "the file as a data URL, or else its file_url or file_id")
    file.path = next(f".{key}" for key in FILE_KEYS if part.get(key) is not None)
    return file


def _audio(part: Json) -> Audio:
    if part.get("audio_url") is not None:
        return _audio_url(string_in(part, "audio_url"))
    if part.get("input_audio") is not None:
        source = mapping(part["input_audio"], ".input_audio")
        data = string_in(source, "data", ".input_audio")
        return Audio(data, string_in(source, "format", ".input_audio"), ".input_audio.data")
    if part.get("data") is None:
        raise missing(".input_audio", "an object with the data and its format")
    return Audio(string_in(part, "data"), string_in(part, "format"), ".data")


def _audio_url(url: str) -> Audio:
    head, comma, data = url.partition(",")
    media, *parameters = head.lower().split(";")
    if not (comma and media.startswith("data:audio/") and "base64" in parameters):
        raise unsupported(
            ".audio_url", f"must be a data URL such as data:audio/wav;base64,…, got {quoted(url)}."
        )
    subtype = media.removeprefix("data:audio/")
    return Audio(data, AUDIO_SUBTYPES.get(subtype, subtype), ".audio_url")


def _video(part: Json) -> Part:
    raise unsupported(".type", "input_video cannot be passed on: send single frames as input_image.")


TEXTS = ("input_text", "output_text", "text")
"""Types of nearly every part. Text may stand wherever parts may."""
PARTS: dict[str, PartReader] = {
    **dict.fromkeys(TEXTS, _text),
    "refusal": _refusal,
    "summary_text": _reasoning,
    "reasoning_text": _reasoning,
    "input_image": _image,
    "image_url": _image_url,
    "input_file": read_file,
    "input_audio": _audio,
    "input_video": _video,
}


def content_in(
    holder: Json,
    key: str,
    cursor: InputCursor,
    allowed: tuple[type[Part], ...],
    readers: Mapping[str, PartReader] = PARTS,
) -> list[Part]:
    """The parts at `key`, which holds a string or a list of parts of the `allowed` kinds. A complaint about a part
    without a type suggests the type of the first reader."""
    value = holder.get(key)
    if not isinstance(value, list):
        if isinstance(value, str):
            return [value if allowed[0] is str else Text(value)]
        if value is None:
            raise missing(f".{key}", "a string or an array of parts")
        raise wrong_type(f".{key}", "a string or an array of parts", value)
    cursor.parts_left -= len(value)
    if cursor.parts_left < 0:
        raise too_many(f".{key}", MAX_PARTS, "content parts, with all before it")
    parts: list[Part] = []
    plain = allowed[0] is str
    left_out = 0
    for part in value:
        if type(part) is dict and part.get("type") in TEXTS and type(text := part.get("text")) is str:
            parts.append(text if plain else Text(text))
            continue
        index = len(parts) + left_out
        try:
            if not isinstance(part, dict):
                raise wrong_type("", "an object", part)
            kind = part.get("type")
            if not isinstance(kind, str):
                raise _of_no_type(kind, readers)
            reader = readers.get(kind)
            if reader is None:
                left_out += 1
                cursor.ledger.drop("unknown_part")
                cursor.ledger.warn(
                    f"A content part of the type {quoted(kind)} is not known here, and was left out."
                )
                continue
            read = reader(part)
            if not isinstance(read, allowed):
                words = ", ".join(PART_NAMES[each] for each in allowed)
                raise wrong_value(".type", f"may not be {kind} here: send only {words}.")
            if isinstance(read, MEDIA):
                read.path = cursor.path(f".{key}[{index}]{read.path}")
            parts.append(read)
        except FieldFault as fault:
            raise fault.inside(f".{key}[{index}]") from None
    return parts


def _of_no_type(kind: Any, readers: Mapping[str, PartReader]) -> FieldFault:
    if kind is None:
        return missing(".type", f"the type of the part, such as {next(iter(readers))}")
    return wrong_type(".type", "a string", kind)
