"""Reasoning that a backend writes into its text: `<think>…</think>` at the very start of the content, and its kin.

It counts only at the start: later it is text about the tag. A closer alone at the start is markup as well: its opener
was the end of the prompt, and what came before it was sent as reasoning, or there was none. The splitter holds back
only what can still become a tag. The blank lines around the tags belong to the markup.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from proxy.core.events import Delta, ReasoningDelta, TextDelta, UsageDelta
from proxy.core.logprobs import of_text
from proxy.core.markup.shapes import literal, named, shape, signs

MAX_LEADING_BLANKS = 64
"""More white space than any chat template puts before its opener: what is longer is the answer itself."""


class ThinkForm(NamedTuple):
    """How the models of a family mark their thoughts."""

    opener: str
    closer: str
    answer: str = ""
    """What the models write between the closer and the answer."""
    alone: bool = True
    """Does the closer alone end a thought that the prompt has opened?"""
    token: bool = False
    """Is it prose about the tag if a blank follows it in its line?"""


PLAIN_FORMS: Final = (
    ThinkForm("<think>", "</think>"),
    ThinkForm("[THINK]", "[/THINK]"),  # Magistral
    ThinkForm("<seed:think>", "</seed:think>"),
    ThinkForm("◁think▷", "◁/think▷"),  # Kimi-VL
    ThinkForm("<|channel>thought", "<channel|>"),  # Gemma 4
)
"""Forms whose closer means nothing else, wherever it stands in a reply."""
THINK_FORMS: Final = (
    *PLAIN_FORMS,
    ThinkForm(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|start|>assistant<|channel|>final<|message|>",
        alone=False,
    ),  # gpt-oss
    ThinkForm(
        "<|channel|> analysis<|message|>",
        "<|end|>",
        "<|start|> assistant<|channel|> final<|message|>",
        alone=False,
    ),  # LLM-jp
    ThinkForm("<mm:think>", "</mm:think>"),  # MiniMax M3
    ThinkForm("<thinking>", "</thinking>"),  # Apriel 1.5
    *(
        ThinkForm(f"<ifm|{word}>", f"</ifm|{word}>") for word in ("think", "think_fast", "think_faster")
    ),  # K2 Horizon
    ThinkForm("[unused16]", "[unused17]"),  # openPangu
    ThinkForm("/think\n", "<|im_end|>\n<|im_start|>assistant", alone=False),  # HyperCLOVA X
    ThinkForm("<|inner_prefix|>", "<|inner_suffix|>", token=True),  # Apertus
    ThinkForm("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", token=True),
    ThinkForm("<|START_THINKING|>", "<|END_THINKING|>", token=True),  # Cohere
    ThinkForm("<|open|>think<|sep|>", "<|close|>think<|sep|>", token=True),  # Kimi K3
    ThinkForm("<|open|> think <|sep|>", "<|close|> think <|sep|>", token=True),
    ThinkForm("<|begin|>assistant<|think|>", "<|end|>", alone=False, token=True),  # Solar Open
    ThinkForm("<|think|>", "<|end|>", alone=False, token=True),
    ThinkForm("<|start|>assistant to=self<|message|>", "<|eom|>", alone=False, token=True),  # Muse
    ThinkForm("to=self<|message|>", "<|eom|>", alone=False, token=True),
    ThinkForm("<|content_thinking|>", "<|end_message|>", alone=False, token=True),  # Inkling
)
_FINALS: Final = ("<|channel|>final<|message|>", "<|channel|> final<|message|>")
FIRST_CLOSERS: Final = (
    *(form.closer for form in THINK_FORMS if form.alone),
    *_FINALS,
)
"""What comes first where the thoughts were sent in a field of their own."""
_TOKENS: Final = frozenset(tag for form in THINK_FORMS if form.token for tag in (form.opener, form.closer))
_VARIABLE: Final = (
    (shape(literal("<think:"), named("rest", signs(r"[\w-]", 40)), literal(">")), "</think:{}>"),  # Hunyuan 3
    (
        shape(
            literal("<|message_model|>"),
            named("rest", signs(r"[^\s<]", 64, 0)),
            literal("<|content_thinking|>"),
        ),
        "<|end_message|>",
    ),  # Inkling
)
"""Openers with something of their own in them, and the closers that belong to them."""
_VARIABLE_CLOSER: Final = shape(literal("</think:"), signs(r"[\w-]", 40), literal(">"))
ANSWERS: Final = ("<answer>", "<response>")
"""What opens a frame around the answer, right behind a closer that was taken out: Hunyuan A13B, ERNIE."""
_FIRST: Final = (*(form.opener for form in THINK_FORMS), *FIRST_CLOSERS)
_BEGINNINGS: Final = {"", *(tag[0] for tag in _FIRST)}
"""Nearly every text begins with something else, and is not searched further."""


class _State(Enum):
    UNDECIDED = "the content may still start with a tag"
    THINKING = "inside"
    AFTER = "past the closer, before the first visible character"
    PLAIN = "nothing left to look for"


UNDECIDED, THINKING, AFTER, PLAIN = _State
"""Needed with every token; Python 3.11 is slow to find a member in its enumeration."""

ASIDE: Final = frozenset({UsageDelta, ReasoningDelta})
"""Deltas that leave the text open: it may still go on with a tag."""


class ThinkSplitter:
    def __init__(self, emit: Callable[[Delta], None], framed: Callable[[str], None] = lambda _: None) -> None:
        """`framed` gets the tag that opens a frame around the answer, if there is one."""
        self._emit = emit
        self._framed = framed
        self._state = UNDECIDED
        self._held = ""
        self._logprobs: list[Any] = []
        self._thought = False
        self._closer = ""
        self._answer = ""
        self._framed_by = ""
        self._closing = False

    def feed(self, delta: Delta) -> None:
        if self._state is not PLAIN:
            if type(delta) is TextDelta:
                self._split(delta)
                return
            if type(delta) not in ASIDE:
                self.close()
        self._emit(delta)

    def close(self) -> None:
        """Releases what is held, because nothing that could complete a tag will come."""
        if self._state is UNDECIDED and self._held.strip() in _TOKENS:
            self._closing = True
            self._split(TextDelta(""))
        if self._state is THINKING:
            self._emit_thought(self._held)
        else:
            self._emit_text(self._held)
        self._state = PLAIN
        self._held = ""

    def _split(self, delta: TextDelta) -> None:
        if self._state is THINKING:
            self._logprobs.clear()  # those of a thought are not those of the answer
        self._logprobs += delta.logprobs or ()
        text = self._held + delta.text
        self._held = ""
        if self._state is UNDECIDED:
            text = self._decide(text)
        if self._state is THINKING:
            text = self._until_closer(text)
        if self._state is AFTER and (text := text.lstrip()):
            self._begin_answer(text)

    def _decide(self, text: str) -> str:
        visible = text.lstrip()
        if visible[:1] in _BEGINNINGS and len(text) - len(visible) <= MAX_LEADING_BLANKS:
            for form in THINK_FORMS:
                if visible.startswith(form.opener):
                    return self._at_tag(text, visible, form.opener, form)
            for tag in FIRST_CLOSERS:
                if visible.startswith(tag):
                    return self._at_tag(text, visible, tag, None)
            for opener, closer in _VARIABLE:
                if found := opener.whole.match(visible):
                    return self._at_tag(
                        text, visible, found[0], ThinkForm(found[0], closer.format(found["rest"]))
                    )
            if found := _VARIABLE_CLOSER.whole.match(visible):
                return self._at_tag(text, visible, found[0], None)
            if _may_begin(visible, _FIRST) or _may_vary(visible):
                self._held = text
                return ""
        return self._without_tag(text)

    def _at_tag(self, text: str, visible: str, tag: str, form: ThinkForm | None) -> str:
        """Enters a thought, or leaves one, unless the tag is only spoken of. Returns what follows it."""
        rest = visible[len(tag) :]
        if tag in _TOKENS and not self._closing:
            if not rest:
                self._held = text
                return ""
            if rest[0] in " \t":
                return self._without_tag(text)
        if form:
            self._state, self._closer, self._answer = THINKING, form.closer, form.answer
        else:
            self._state = AFTER
            if tag in _FINALS:
                self._frame(tag)
        return rest

    def _without_tag(self, text: str) -> str:
        """Notes that the content has begun without a tag."""
        self._state = PLAIN
        self._emit_text(text)
        return ""

    def _until_closer(self, text: str) -> str:
        thought, closer, rest = text.partition(self._closer)
        if closer:
            self._emit_thought(thought)
            self._state = AFTER
            return rest
        kept = _possible_closer(text, self._closer)
        self._held = text[len(text) - kept :]
        self._emit_thought(text[: len(text) - kept])
        return ""

    def _begin_answer(self, text: str) -> None:
        expected = () if self._framed_by else (self._answer,) if self._answer else ANSWERS
        if not self._closing and any(tag.startswith(text) and tag != text for tag in expected):
            self._held = text
            return
        if tag := next((tag for tag in expected if text.startswith(tag)), ""):
            text = text.removeprefix(tag).lstrip()
            self._frame(tag)
            if not text:
                return
        self._state = PLAIN
        if self._logprobs:
            self._logprobs = of_text(self._logprobs, text)
        self._emit_text(text)

    def _frame(self, tag: str) -> None:
        self._framed_by = tag
        self._framed(tag)

    def _emit_thought(self, text: str) -> None:
        """Blank lines before the first thought are markup; an empty block is no reasoning at all."""
        if not self._thought:
            text = text.lstrip()
        if text:
            self._thought = True
            self._emit(ReasoningDelta(text))

    def _emit_text(self, text: str) -> None:
        if text:
            self._emit(TextDelta(text, self._logprobs or None))


def _may_vary(visible: str) -> bool:
    """Can this become a tag with something of its own in it?"""
    return any(one.begun.match(visible) for one in (*(opener for opener, _ in _VARIABLE), _VARIABLE_CLOSER))


def _may_begin(text: str, tags: tuple[str, ...]) -> bool:
    """Can this become one of the tags?"""
    return any(tag.startswith(text) for tag in tags)


def _possible_closer(text: str, closer: str) -> int:
    """Returns the length of the end of the text that may be the beginning of the closer."""
    for length in range(min(len(text), len(closer) - 1), 0, -1):
        if closer.startswith(text[-length:]):
            return length
    return 0
