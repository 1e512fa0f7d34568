"""The other order of items, for clients that were written against it: one message that is open from first to last.

The message is opened at index 0 before anything is known, and closed last; calls open and close meanwhile. With this
order Codex shows the text after the command, and LangChain mixes up arguments. Therefore it is a setting
(`item_order = "message_first"`) and never the default.
"""

from proxy.core.annotations import all_annotations
from proxy.core.events import PartEnded, PartKind, PartStarted, ReplyEnded, ReplyStarted
from proxy.core.model import Text
from proxy.core.surfaces.responses.encode import OpenItem, ResponsesEncoder


class MessageFirstEncoder(ResponsesEncoder):
    def _on_started(self, started: ReplyStarted) -> None:
        super()._on_started(started)
        super()._on_part_started(PartStarted(PartKind.TEXT))
        self._message: OpenItem | None = self._item
        self._texts: list[PartEnded] = []

    def _on_part_started(self, started: PartStarted) -> None:
        if started.kind is PartKind.TEXT:
            assert self._message is not None, "it is open until the reply has ended"
            self._item = self._message
        else:
            super()._on_part_started(started)

    def _on_part_ended(self, ended: PartEnded) -> None:
        if isinstance(ended.part, Text):
            self._texts.append(ended)
        else:
            super()._on_part_ended(ended)

    def conclude(self, ended: ReplyEnded) -> ReplyEnded:
        if self._message is not None:
            self._close_message(self._message, ended)
            self._message = None
        return super().conclude(ended)

    def _close_message(self, message: OpenItem, ended: ReplyEnded) -> None:
        texts = [each.part for each in self._texts if isinstance(each.part, Text)]
        logprobs = [entry for text in texts for entry in text.logprobs or ()]
        annotations = all_annotations(texts)
        whole = Text("".join(text.text for text in texts), logprobs or None, annotations or None)
        self._item = message
        super()._on_part_ended(
            PartEnded(whole, ended.fault is None and all(each.complete for each in self._texts))
        )
