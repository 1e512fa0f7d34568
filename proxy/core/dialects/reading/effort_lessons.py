"""What a refused level of thought teaches: which levels the backend knows, if it lists them.

Clients have seven words for them, and hardly a server or model knows them all. The next best one is nearer to what the
client wants than a refusal, or than no word at all.
"""

import re
from dataclasses import replace

from proxy.core.dialects.reading.lessons import Row, says, setting
from proxy.core.profile import BackendProfile

LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""In their order."""

OFF = LEVELS.index("none")

_LEVEL = rf"\b(?:{'|'.join(LEVELS)})\b"
_QUOTE = r"""[\s\\'"`\[\](){}]{0,6}"""
_NEXT = rf"""{_QUOTE}(?:[,|/]{_QUOTE}(?:(?:or|and)\b{_QUOTE})?|(?:or|and)\b{_QUOTE})"""
LISTED = says(
    r"(?:input should be|must be(?: one of)?|expected(?: one of)?"
    r"|(?:supported|valid|allowed) (?:values|levels)(?: are)?)"
    rf":?{_QUOTE}(?P<known>{_LEVEL}(?:{_NEXT}{_LEVEL}){{0,6}})"
)
_ABOUT_EFFORT = says(r"effort|\breasoning value|\bthink value|\blevel\b")
_ABOUT_OTHERS = says(r"verbosity|\bdetail\b")
NEAR = 300
"""Characters around the list in which it says what it is about."""

REFUSED_LEVEL = says(r"invalid reasoning value|\bthink value\b.{0,30} is not supported")


def _next_best(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """Maps each level that the backend lacks to the next one that it has, the lower of two. A client that wants
    thoughts is never refused all of them: if there is no level for that, the backend chooses one."""
    around = match.string[max(0, match.start() - NEAR) : match.end() + NEAR]
    if profile.effort_field == "none" or not _ABOUT_EFFORT.search(around) or _ABOUT_OTHERS.search(around):
        return profile
    listed = "".join(each if each.isalpha() else " " for each in match["known"].lower()).split()
    known = [place for place, level in enumerate(LEVELS) if level in listed]
    words = dict(profile.effort_map)
    for place, level in enumerate(LEVELS):
        word = words.get(level, level)
        if word in LEVELS and word not in listed:
            nearest = min(set(known) - {OFF}, key=lambda at: (abs(at - place), at), default=None)
            words[level] = None if nearest is None else LEVELS[nearest]
    return replace(profile, effort_map=words)


EFFORT_ROWS = (
    Row("level", LISTED, _next_best),
    Row("value", REFUSED_LEVEL, setting(effort_field="none"), lasting=False),
)
"""The rows for every dialect that has OpenAI's words for effort."""
