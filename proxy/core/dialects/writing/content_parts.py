"""What a user or a tool shows, where text is a part like any other: as much of it as the backend reads.

Nothing is fetched here. A note replaces an image that the backend cannot read, because an agent's screenshots should
not end its session. A file that the backend cannot read is the client's mistake, and is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.core.dialects.writing import data_urls
from proxy.core.dialects.writing.notes import MESSAGES, NO_FILE, NO_IMAGES, NO_LINKS, PARTS
from proxy.core.dialects.writing.unreadable import unreadable_file
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image, UserPart
from proxy.core.profile import BackendProfile

ContentPart = str | dict[str, Any]
"""Text is kept as it is for as long as possible: nearly every message ends as one string."""


def note_for_image(profile: BackendProfile, ledger: Ledger, *, inside: bool) -> str | None:
    """What stands for an image that the backend cannot read. `inside`: it is in the request itself."""
    if profile.images == "none" or (profile.images == "data" and not inside):
        ledger.drop("image")
        return NO_IMAGES if profile.images == "none" else NO_LINKS
    return None


@dataclass(frozen=True, slots=True)
class ContentParts:
    """The words of a dialect for what is shown."""

    text_type: str
    image: Callable[[Image], dict[str, Any]]
    file: Callable[[File], dict[str, Any] | None]
    """Gives None for a file that the dialect has no words for."""

    def content(self, blocks: Sequence[list[ContentPart]]) -> str | list[dict[str, Any]]:
        """Joins the parts of some messages to the content of one.

        It is a string whenever it is only text: fewer servers read lists, and one reads them as several messages.
        """
        match blocks:
            case [[text]] if isinstance(text, str):
                return text
        if any(not isinstance(part, str) for block in blocks for part in block):
            return [self._listed(part) for block in blocks for part in block]
        return MESSAGES.join([PARTS.join(block) for block in blocks])  # type: ignore[arg-type]  # all are strings

    def _listed(self, part: ContentPart) -> dict[str, Any]:
        return {"type": self.text_type, "text": part} if isinstance(part, str) else part

    def of_user(self, part: UserPart, profile: BackendProfile, ledger: Ledger) -> ContentPart:
        """Raises ClientFault for a file that this backend cannot read."""
        match part:
            case str():
                return part
            case Image():
                return self._image(part, profile, ledger)
            case Audio():
                return {"type": "input_audio", "input_audio": {"data": part.data, "format": part.format}}
            case _:
                return self._file(part, profile, ledger)

    def of_tool(self, part: UserPart, profile: BackendProfile, ledger: Ledger) -> ContentPart:
        """Writes what a tool returned. A note stands for an unreadable file, because the agent could not prevent it."""
        try:
            return self.of_user(part, profile, ledger)
        except ClientFault:
            ledger.drop("file")
            return NO_FILE

    def _image(self, image: Image, profile: BackendProfile, ledger: Ledger) -> ContentPart:
        note = note_for_image(profile, ledger, inside=image.url.startswith("data:"))
        return self.image(image) if note is None else note

    def _file(self, file: File, profile: BackendProfile, ledger: Ledger) -> ContentPart:
        found = data_urls.read(file.data or "", file.path)
        if found and found.is_image:
            return self._image(Image(file.data or ""), profile, ledger)
        if profile.files and (written := self.file(file)):
            return written
        if found and found.is_text:
            return f"{file.name or 'file'}:\n{found.text()}"
        raise unreadable_file(file, found)
