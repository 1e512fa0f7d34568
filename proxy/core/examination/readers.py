"""What a reply proves. Whether a model obeys is its own matter: only what it could not do by itself is a proof."""

from collections.abc import Callable, Collection
from typing import Any

from proxy.core import jsontext
from proxy.core.events import Ending
from proxy.core.examination.findings import Answer, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import COLOURS
from proxy.core.examination.question import Case
from proxy.core.masking.redact import quotable
from proxy.core.model import ToolName

SHOWN = 40


def works(heard: Heard, words: str = "") -> Answer:
    return Answer(Verdict.WORKS, words, heard)


def ignored(heard: Heard, words: str = "") -> Answer:
    return Answer(Verdict.IGNORED, words, heard)


def unclear(heard: Heard, words: str = "") -> Answer:
    return Answer(Verdict.UNCLEAR, words, heard)


def accepted(heard: Heard) -> Answer:
    return works(heard)


def is_cut(heard: Heard) -> bool:
    return heard.ending is Ending.MAX_TOKENS


def speaks(heard: Heard) -> Answer:
    if heard.text:
        return works(heard)
    return unclear(heard, "nothing but thoughts" if heard.thoughts else "an empty reply")


def read_by_model(case: Case, by: int) -> Callable[[Heard], Answer]:
    """Did what stands in the request reach the model? Its tokens are counted if it did."""

    def read(heard: Heard) -> Answer:
        match case.is_seen(heard, by):
            case False:
                return ignored(heard, "it does not count among the input tokens")
            case None:
                return works(heard, "taken; nothing shows whether the model reads it")
            case _:
                return works(heard)

    return read


def read_beyond(before: int | None, by: int) -> Callable[[Heard], Answer]:
    """Has the model read so many tokens more than `before`?"""

    def read(heard: Heard) -> Answer:
        if before is None or heard.input_tokens is None:
            return unclear(heard, "taken; nothing shows whether the model reads it")
        grown = heard.input_tokens >= before + by
        return works(heard) if grown else ignored(heard, "taken, and not given to the model")

    return read


def calls(only: Collection[ToolName] | None = None) -> Callable[[Heard], Answer]:
    """Was the model forced to call one of these?"""

    def read(heard: Heard) -> Answer:
        if heard.leaked:
            return ignored(heard, f"the call stands in the text, as {', '.join(heard.leaked)}")
        if any(only is None or call.tool in only for call in heard.calls):
            return works(heard)
        if is_cut(heard):
            return unclear(heard, "no call within the limit")
        return ignored(heard, "another tool was called" if heard.calls else "no call came")

    return read


def may_call(heard: Heard) -> Answer:
    """A model that is free to call need not: that it speaks instead proves nothing."""
    if heard.calls and not heard.leaked:
        return works(heard)
    if heard.leaked:
        return ignored(heard, f"the call stands in the text, as {', '.join(heard.leaked)}")
    return unclear(heard, "the model did not call")


def one_call(heard: Heard) -> Answer:
    if len(heard.calls) > 1:
        return ignored(heard, f"{len(heard.calls)} calls came")
    return works(heard) if heard.calls else unclear(heard, "the model did not call")


def fits(allowed: Collection[str], name: str) -> Callable[[Heard], Answer]:
    """Do the arguments obey a schema that the prompt contradicts?"""

    def read(heard: Heard) -> Answer:
        if not heard.calls:
            return unclear(heard, "the model did not call")
        arguments = _object(heard.calls[0].arguments)
        if arguments is not None and arguments.keys() == {name} and arguments[name] in allowed:
            return works(heard)
        return ignored(heard, f"arguments against the schema: {quotable(heard.calls[0].arguments, SHOWN)}")

    return read


def is_enforced(heard: Heard) -> Answer:
    """Has the answer the form that no prompt told of?"""
    answer = _object(heard.text)
    if answer is not None and answer.keys() == {"paint", "layers"} and answer["paint"] in COLOURS:
        return works(heard)
    return _formless(heard)


def is_object(heard: Heard) -> Answer:
    return works(heard) if _object(heard.text) is not None else _formless(heard)


def _formless(heard: Heard) -> Answer:
    if is_cut(heard) or not heard.text:
        return unclear(heard, "no whole answer came within the limit")
    return ignored(heard, f"the answer was: {quotable(heard.text, SHOWN)}")


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = jsontext.bounded(text.encode())
    except jsontext.BadJson:
        return None
    return value if isinstance(value, dict) else None


def is_limited(limit: int) -> Callable[[Heard], Answer]:
    def read(heard: Heard) -> Answer:
        if is_cut(heard):
            return works(heard)
        made = heard.usage.output_tokens if heard.usage else 0
        if made > 2 * limit or len(heard.text) > 8 * limit:
            return ignored(heard, "the answer went on")
        return unclear(heard, "the answer ended before the limit")

    return read


def is_not_limited(heard: Heard) -> Answer:
    if is_cut(heard):
        return ignored(heard, "an answer without a limit was cut")
    return works(heard)


def brings_usage(heard: Heard) -> Answer:
    return works(heard) if heard.usage else ignored(heard, "no token counts came")


def brings_logprobs(heard: Heard) -> Answer:
    return works(heard) if heard.logprobs else ignored(heard, "none came")


def stops_at(word: str) -> Callable[[Heard], Answer]:
    def read(heard: Heard) -> Answer:
        return ignored(heard, "the answer went on") if word in heard.text else works(heard)

    return read


def counts(heard: Heard) -> Answer:
    return works(heard, f"{heard.count} tokens") if heard.count else ignored(heard, "it counted nothing")
