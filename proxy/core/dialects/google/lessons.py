"""What Gemini's refusals teach: the table for `reading.lessons`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from proxy.core.dialects.reading.lessons import ProfileChange, Row, says, setting
from proxy.core.profile import BackendProfile


def _efforts(**words: str) -> ProfileChange:
    return lambda profile, _: replace(profile, effort_map={**profile.effort_map, **words})


def _older_schema(profile: BackendProfile, _: re.Match[str]) -> BackendProfile:
    return replace(profile, schema=(profile.schema - {"google"}) | {"google_proto"})


def _without(*names: str) -> ProfileChange:
    return lambda profile, _: replace(profile, tuning=profile.tuning - set(names))


_TUNING = {"temperature": "temperature", "topp": "top_p", "seed": "seed", "stopsequences": "stop"}


def _without_named(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    return _without(_TUNING[match["name"].replace("_", "").lower()])(profile, match)


_REFUSED = r"(?:not (?:supported|enabled|allowed|available)|unsupported|cannot be used)"

LESSONS: Sequence[Row] = (
    # Another conversation's signatures are good.
    Row(
        "signatures",
        says(r"(?:corrupted|invalid|missing a) thought[_ ]?signature"),
        setting(signed_calls=False),
        lasting=False,
    ),
    # Values that are ours and no client's: what is learned concerns them alone. The word itself stands in the body.
    Row("level", says(rf"(?<=\bMINIMAL).{{0,60}}{_REFUSED}"), _efforts(none="low", minimal="low")),
    Row("level", says(r"budget 0 is invalid|only works in thinking mode"), _efforts(none="minimal")),
    Row(
        "level_refused",
        says(rf"thinking[_ ]level\W{{1,3}}(?!is\b)\w{{1,40}}\W.{{0,40}}{_REFUSED}"),
        setting(effort_field="none"),
        lasting=False,  # another one may be taken
    ),
    Row("thinking", says(rf"thinking.{{0,60}}{_REFUSED}"), setting(effort_field="none")),
    Row("format", says(r"function calling with.{0,60}mime type"), setting(format_with_tools=False)),
    Row("schema", says(r"unknown name \W*parameters_?json_?schema"), _older_schema),
    Row("logprobs", says(rf"logprobs.{{0,60}}{_REFUSED}"), _without("logprobs", "top_logprobs")),
    Row("penalty", says(rf"penalty.{{0,60}}{_REFUSED}"), _without("presence_penalty", "frequency_penalty")),
    Row(
        "tuning",
        says(rf"\b(?P<name>temperature|top_?p|seed|stop_?sequences)\b(?!\W+\d).{{0,60}}{_REFUSED}"),
        _without_named,
    ),
    Row(
        "images",
        says(r"cannot fetch content|(?:invalid or )?unsupported file uri"),
        setting(images="data"),
        lasting=False,  # these addresses, perhaps of nobody any more
    ),
)
