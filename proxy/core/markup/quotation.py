"""Says whether a whole block is only quoted, from the text around it.

Models explain calls more often than they leak them, and a call that was only explained must never be run. A block is
quoted

* in a line of a block quote, of a table or of a diff;
* in a string of JSON, if that is all that the reply is;
* between marks that touch it on both sides, or where the mark that touches its start has its partner within a value;
* if punctuation of a sentence touches its end; but a semicolon may follow JSON, since it joins calls;
* in an element or an environment that means "as it is", or in a here-document;
* if a value holds what would have ended it, and the block begins within a line: it may have swallowed an explanation.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.markup.code import CONTEXT
from proxy.core.markup.formats import Recovered

MAX_BEHIND: Final = 1024
"""Characters behind a block in which the end of an element around it is looked for."""
MAX_BLANKS: Final = 64
"""Blanks after which what follows does not touch a block any more."""
LONGEST_END: Final = 160
"""Characters of the longest end of an element, environment or here-document."""
SETTLING: Final = 4
"""Visible characters behind a block that tell whether a mark closes there: three quotation marks and a backslash."""

_QUOTES: Final = {
    '"': '"', "'": "'", "“": "”“", "„": "“”", "”": "”", "‟": "”", "‘": "’", "‚": "‘’", "’": "’", "«": "»", "»": "«»",
    "‹": "›", "›": "‹›", "「": "」", "『": "』", "《": "》", "〈": "〉", "〝": "〞〟", "＂": "＂", "＇": "＇",
    "❝": "❞", "❛": "❜", "″": "″", "`": "`'´", "´": "´`",
}  # fmt: skip
_MARKS: Final = _QUOTES | {"(": ")", "（": "）", "[": "]", "【": "】", "*": "*", "_": "_", "|": "|", "~": "~"}
"""What opens a quotation, or sets a piece of text apart, and what closes it."""
_GUILLEMETS: Final = "«»‹›"
_NARROW: Final = " \u00a0\u202f"
_SAME: Final = "\"'＂＇″´"
"""Marks that open and close alike: whether one opens is seen from what stands before it."""
_PUNCTUATION: Final = ",;:.?!，；：。？！、…"

_LINE: Final = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]{1,4}){0,8}(?:>|\|)|[-+]\Z")
_IN_JSON: Final = re.compile(
    r"\s*+(?:\[\s*+)?(?:\{\s*+)?(?=\")(?:[^\"]++|\"(?:[^\"\\]++|\\.)*+\")*+\"(?:[^\"\\]++|\\.)*+", re.DOTALL
)
"""Matches JSON up to within a string."""
_AS_IT_IS: Final = (
    "pre|code|samp|kbd|textarea|xmp|listing|script|template|blockquote|q|cite|examples?|samples?"
)
"""Elements that show text, and do not say it."""
_TRIPLE: Final = re.compile(r"(\"\"\"|''')[ \t]{0,8}\r?\n[ \t]{0,64}\Z")
_VERB: Final = re.compile(r"\\verb\*?([^\s\w])\Z")
_REGION: Final = re.compile(
    r"`[^`\n]{1,200}`"
    rf"|<(?P<element>{_AS_IT_IS})(?=[\s>])[^<>]{{0,200}}>"
    rf"|</(?P<ended>{_AS_IT_IS})\s{{0,8}}>"
    r"|(?P<comment><!--)|(?P<commented>-->)"
    r"|(?P<cdata><!\[CDATA\[)|(?P<cdata_end>\]\]>)"
    r"|\\begin\{(?P<environment>verbatim\*?|Verbatim|lstlisting|minted|alltt)\}"
    r"|\\end\{(?P<environment_end>verbatim\*?|Verbatim|lstlisting|minted|alltt)\}"
    r"|<<[-~]?[ \t]{0,4}(?P<quote>['\"]?)(?P<word>[A-Za-z_]\w{0,40})(?P=quote)[ \t]{0,4}(?:[>|&;][^\n]{0,200})?\r?\n",
    re.IGNORECASE,
)


class Quotation:
    """What stands before a block, or before several with only blanks between them. What stands behind decides."""

    __slots__ = ("_behind", "_found", "_marks", "_region", "_searched")

    def __init__(self, before: str) -> None:
        self._marks = _closing(before)
        self._region = _open_region(before)
        self._behind = ""
        self._searched = 0
        self._found = False

    def extend(self, behind: str) -> None:
        """Takes more of what stands behind the last block."""
        self._behind += behind[: MAX_BEHIND - len(self._behind)]
        self._search(self._behind)

    def follow(self) -> None:
        """Notes that another block has followed: what stands behind that one counts."""
        self._behind, self._searched = "", 0

    def _search(self, behind: str) -> None:
        if self._region and not self._found:
            self._found = self._region.search(behind, max(0, self._searched - LONGEST_END)) is not None
            self._searched = len(behind)

    def verdict(self, *, in_json: bool, ended: bool) -> bool | None:
        """Is it quoted? None if more text is needed. `in_json`: does the last block end with its JSON?"""
        behind = self._behind
        if ended:
            self._search(behind + "\n")
        if self._found or (behind[:1] and behind[0] in _PUNCTUATION and not (in_json and behind[0] == ";")):
            return True
        visible = behind.lstrip()
        settled = ended or len(visible) >= SETTLING or len(behind) - len(visible) > MAX_BLANKS
        if self._marks and self._marks.match(behind):
            return True
        if not settled and (self._marks or not behind):
            return None
        if self._region and not ended and len(behind) < MAX_BEHIND:
            return None
        return False


def within(before: str, calls: Iterable[Recovered], doubtful: bool) -> bool:
    """Is a block quoted, whatever stands behind it?"""
    line = before[before.rfind("\n") + 1 :]
    if _LINE.match(line) or (doubtful and line.strip()):
        return True
    if before[:1] in ("{", "[") and len(before) < CONTEXT and _IN_JSON.fullmatch(before):
        return True
    mark = before[-1:]
    closers = _QUOTES.get(mark)
    if closers is None or (mark in _SAME and not _opens(before)):
        return False
    return any(closer in text for call in calls for text in _texts(call) for closer in closers)


def _opens(before: str) -> bool:
    """Does the mark at the end open a quotation, to judge by what stands before it?"""
    return len(before) < 2 or not (before[-2].isalnum() or before[-2] in ".,!?;:)]}")


def _texts(call: Recovered) -> Iterable[str]:
    waiting: list[Any] = [jsontext.loads(call.arguments)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def _closing(before: str) -> re.Pattern[str] | None:
    """Returns a pattern of what has to stand behind the block, if a mark stands right before it."""
    if triple := _TRIPLE.search(before[-100:]):
        return re.compile(rf"[ \t]{{0,8}}\r?\n?[ \t]{{0,64}}{triple[1]}")
    if verb := _VERB.search(before[-8:]):
        return re.compile(re.escape(verb[1]))
    mark, blank = before[-1:], ""
    if mark and mark in _NARROW and before[-2:-1] and before[-2] in _GUILLEMETS:
        mark = before[-2]
    if mark and mark in _GUILLEMETS:
        blank = f"[{_NARROW}]?"
    closers = _MARKS.get(mark)
    return re.compile(rf"{blank}\\?[{re.escape(closers)}]") if closers else None


def _open_region(before: str) -> re.Pattern[str] | None:
    """Returns a pattern of what ends the elements, environments and here-documents that are open at the end."""
    opened: dict[str, None] = {}
    here = ""
    for found in _REGION.finditer(before):
        match found.lastgroup:
            case "element":
                opened[rf"</{found['element'].lower()}\s{{0,8}}>"] = None
            case "ended":
                opened.pop(rf"</{found['ended'].lower()}\s{{0,8}}>", None)
            case "comment":
                opened["-->"] = None
            case "commented":
                opened.pop("-->", None)
            case "cdata":
                opened[r"\]\]>"] = None
            case "cdata_end":
                opened.pop(r"\]\]>", None)
            case "environment":
                opened[re.escape(f"\\end{{{found['environment']}}}")] = None
            case "environment_end":
                opened.pop(re.escape(f"\\end{{{found['environment_end']}}}"), None)
            case "word":
                end = rf"^[ \t]{{0,64}}{found['word']}[ \t]{{0,8}}\r?\n"
                here = end if not re.search(end, before[found.end() :], re.MULTILINE) else here
            case _:
                pass
    ends = [*opened, *([here] if here else [])]
    return re.compile("|".join(ends), re.IGNORECASE | re.MULTILINE) if ends else None
