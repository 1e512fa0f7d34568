"""Each regular expression with the worst text for it: what stands before, what is repeated, what is behind.

The tests beside it tell the row for a new pattern, made of the pattern itself; whoever knows a worse one puts that.
"""

import re
from collections.abc import Callable, Mapping

from proxy.core.dialects.anthropic import models
from proxy.core.markup.code import CodeTracker
from proxy.core.markup.openers import Openers
from proxy.core.markup.quotation import _closing, _open_region
from proxy.core.markup.registry import FORMATS
from proxy.core.masking.secrets import Secrets
from proxy.core.policy.admission import _matcher

WORST: Mapping[str, tuple[str, str, str]] = {
    "core.markup.code:CodeTracker._open_fence": ("\n", "> ", "`"),
    "core.markup.openers:Openers.__init__": ("", "<tool_cal", ""),
    "core.markup.openers:_readers_of": ("", "l", ""),
    "core.dialects.anthropic.lessons:_without_tuning": ("", "temperatur", ""),
    "core.dialects.anthropic.models:traits_of": ("opus-4", "-1", ""),
    "core.policy.admission:_matcher": ("", "abc", "e"),
    "core.masking.secrets:Secrets.__init__": ("", "sk-aaaaaaa", "b"),
    "core.masking.secrets:_forms": ("", "%\n", "\n"),
    "commands.recorded_backend:HEADER_NAME": ("", "!", ""),
    "settings.server_urls:SecretUrl._display": (":::", ":/", "#"),
    "commands.serve:PASTED": ("-", "-", " "),
    "settings.values:_spelled_out": ("$", "A", " "),
    "settings.values:_STORE_URL": ("sqlite:", "/", "\n"),
    "settings.values:_RANDOM": ("", "0", " "),
    "settings.values:_WORDS": ("A", "0A", "0"),
    "settings.values:_backend_name": ("-", "-", ""),
    "settings.values:_digest": ("", "0", ""),
    "settings.values:_header_name": ("!", "!", ""),
    "settings.values:_prefix": ("-", "-", ""),
    "settings.values:_host_name": ("", " ", " "),
    "core.policy.hosts:AUTHORITY": (".", ".", "/"),
    "core.surfaces.native.tools:NAME": ("", "0", ""),
    "core.surfaces.openapi.known_paths:_NUMBER": ("[0", "0", ""),
    "core.surfaces.openapi.known_paths:_STEP": ("[.", ".", "."),
    "core.surfaces.errors:_DELAY": ("", "try again in 0", ""),
    "core.surfaces.memory.reasoning:VISIBLE": ("", " ", " "),
    "core.surfaces.responses.socket_messages:LANE": ("", "-", ""),
    "core.surfaces.reading.tools:NAME": ("", "-", ""),
    "core.jsontext:_LONG_WHOLE": ("-0000000000000000000", ".a", "a"),
    "core.markup.bodies:_BEGINS": ("[[{ $", " ", "."),
    "core.markup.families.tags.dsml:_SPOILED": ("<\t|\tDSML\t|\ttool\t<tool_calls", "\n", ""),
    "core.markup.families.tags.dsml:_SPOILED_BEGUN": ("<\t|\tDSML\t|\ttool\t<_>\t\n", "\t", ""),
    "core.markup.families.tags.invoke:_NOT_TO_USER": ("<", "<", "A"),
    "core.markup.families.tags.solar2:_GRAMMAR": ("<|tool_arg:start|>:", "<", "\n"),
    "core.markup.shapes:begun": ('</-\n- = "\'" - = "-"', " ", ">"),
    "core.markup.bodies:_KEYED": (',\n","\n:', ' ,\n","', "\\"),
    "core.markup.bodies:_NAMED": ('{\n"name"\n:\n"', '{"', "\\"),
    "core.markup.code:_INFO": ("", "\t", ""),
    "core.markup.families.notations.arrows:_BETWEEN": (",", ",", ""),
    "core.markup.families.notations.arrows:_INVOKES": ("<invoke\nname\n=", "<", "0"),
    "core.markup.families.notations.arrows:_IS": (" ", "  ", ">"),
    "core.markup.families.notations.arrows:_IS_BEGUN": (" =>", "  ", "a"),
    "core.markup.families.notations.arrows:_KEY": ("--", "----", ""),
    "core.markup.families.notations.arrows:_KEY_BEGUN": ('"-', "-", "\n"),
    "core.markup.families.notations.arrows:_STRING": ("\"'", "\\'", "\\"),
    "core.markup.families.notations.arrows:_STRING_BEGUN": ("\"'\\", "\"''", '"'),
    "core.markup.families.notations.arrows:_WORD": ("-0+", "0", "A"),
    "core.markup.families.notations.arrows:_WORD_BEGUN": ("+", "+", " "),
    "core.markup.families.objects.mistral:_ALONE": ("A ", " ", '"'),
    "core.markup.families.objects.plain_json:_BLANK_BEFORE": ("", " ", "a"),
    "core.markup.families.tags.glm:_NO_BARE_QUOTE": ('"a', "a", "\\"),
    "core.markup.families.tags.grok:_GRAMMAR": ("<parameter\nname\n=", "<", "A"),
    "core.markup.families.tags.mcp:_GRAMMAR": ("<server_name>/</server_name>\n<tool_name>", "<", "A"),
    "core.markup.families.tokens.plamo:_GRAMMAR": ("", "<", "A"),
    "core.markup.families.tokens.solar:_GRAMMAR": ("", "<", "A"),
    "core.markup.jsonish:_NEVER_ESCAPED": ("\\u0000", "\n", " "),
    "core.markup.judgement:_FORGED": ("</_param", " ", ""),
    "core.markup.judgement:_FORGED_BEGUN": ("</", "a", ""),
    "core.markup.quotation:_IN_JSON": (' [ { "', "\\ [", "\\"),
    "core.markup.quotation:_LINE": ("\t", "\t", ""),
    "core.markup.quotation:_REGION": ('<<-\t"AA\t&\t', "<", "."),
    "core.markup.quotation:_TRIPLE": ('"""\t\r\n\t', '"', "a"),
    "core.markup.quotation:_VERB": ("\\verb*", "\\verb\\", "a"),
    "core.markup.quotation:_closing": ("", "a", ""),
    "core.markup.quotation:_open_region": ("", "a", ""),
    "core.markup.scanner:_ANYTHING": ("", "a", ""),
    "core.markup.shapes:_begun": ("(?P<P", "P", " "),
    "core.markup.shapes:shape": ('{\n"tool"\n=>\n"', "{", "\\"),
    "core.markup.tagged:paired_newlines": ("\r", "\r", "a"),
    "core.markup.bodies:_BLANK": (" ", " ", ""),
    "core.markup.bodies:_FENCE": ("", "` ", "A"),
    "core.markup.bodies:_FENCE_BEGUN": ("`_", "_", "A"),
    "core.markup.bodies:_FENCE_END": ("", "`", ""),
    "core.markup.bodies:_STRAY": (",", ",", ""),
    "core.markup.code:_BREAK": ("\t=\t\r", "*\n", "a"),
    "core.markup.code:_FENCE_HEAD": (" > ", "  > ", "a"),
    "core.markup.code:_LIST_ITEM": ("\t", "\t", ""),
    "core.markup.code:_RUN": ("", "a", "a"),
    "core.markup.code:_TICKS": ("", "a", "a"),
    "core.markup.expressions:_BETWEEN": (",", ",", ""),
    "core.markup.expressions:_CALL": ("a-", "a- a", ""),
    "core.markup.expressions:_JSON": ("[ ", " ", ""),
    "core.markup.expressions:_NAME_BEGUN": ("a-", "a- a", ""),
    "core.markup.families.tokens.deepseek:_GRAMMAR": ("", "<", "A"),
    "core.markup.families.tokens.deepseek:_token": ("<|tool_calls", "<", "A"),
    "core.markup.families.tags.dsml:_BEGUN": ("</\n|\nDSML\n|\n", "M</\n|\nDSML", "<"),
    "core.markup.families.tags.dsml:_DANGLING": ("< | DSML | function_calls > </ | DSML |", " ", "A"),
    "core.markup.families.tags.dsml:_EMPTY": ("< | DSML | function_calls > </ | ", "D", ""),
    "core.markup.families.tags.dsml:_TYPED": ('<parameter\n"\nstring\n', "<", ">"),
    "core.markup.families.tags.dsml:_marks": ("<function_calls\n", "<", "A"),
    "core.markup.families.tags.elements:_BEGUN": ("<", "a", ""),
    "core.markup.families.tags.elements:_INVOKE": (" <invoke> <tool_name> ", "/", ""),
    "core.markup.families.tags.elements:_INVOKE_BEGUN": ("\n<invoke>\n<tool_name>\n", "\n<invoke>i", ""),
    "core.markup.families.tags.elements:_KEY": ("<a", "-", ""),
    "core.markup.families.notations.gemma:_BETWEEN": (",", ",", ""),
    "core.markup.families.notations.gemma:_NAME": (": call : -", "l: ", ""),
    "core.markup.families.notations.gemma:_NAME_BEGUN": (": call :", " ", ""),
    "core.markup.families.tags.glm:_grammar": ("<tool_call>\n/", '"<arg_key>', '"'),
    "core.markup.families.objects.inkling:_AUTHOR": ("<|message_model|>", "|", ""),
    "core.markup.families.objects.inkling:_AUTHOR_BEGUN": ("<|message_model|>><|", "o", ""),
    "core.markup.families.tags.invoke:_INSTEAD": ("\tcall\t", "\n", "A"),
    "core.markup.families.tags.invoke:_grammar": ("<a-:parameter\nname", "<", "."),
    "core.markup.families.tokens.kimi:_K2": ("<|tool_calls_arguments", "<", "A"),
    "core.markup.families.tokens.kimi:_K3": ("<|open|>\nargument\n", "<", "A"),
    "core.markup.families.tokens.kimi:_NAMELESS": ("call-______", "0c", " "),
    "core.markup.families.tokens.kimi:_NUMBER": ("-0", "-0", "a"),
    "core.markup.families.tokens.kimi:_PREFIX": ("functions-", "f", "a"),
    "core.markup.families.tags.minimax_m3:_TAG": ("]<]minimax[>[\n</[", "]", "\n"),
    "core.markup.families.tags.minimax_m3:_TAG_BEGUN": ("\n]<]minimax[>[\n<", "m", ""),
    "core.markup.families.objects.mistral:_NAME": ("- [CALL_ID]- [ARGS] ", " ", ""),
    "core.markup.families.objects.mistral:_NAME_BEGUN": ("- [CALL_ID]", "I- [ARGS] ", ""),
    "core.markup.families.tags.qwen:_grammar": ("<function\nname\n=", "<", "{"),
    "core.markup.families.tags.step:_CDATA": (" <![CDATA[!]]>", "]", "a"),
    "core.markup.families.tags.step:_MINICPM": ("<parameter\nname", "<", "A"),
    "core.markup.families.tags.step:_STEP": (
        "<\uff5ctool_call_begin\uff5c>\nfunction\n<\uff5ctool_sep\uff5c>\n",
        "<",
        "A",
    ),
    "core.markup.frame_tokens:BEGUN": ("<|open|>\nresponse\n<|s", "<", "0"),
    "core.markup.frame_tokens:BEGUN_HEADER": ("<|start|>\nassistant\n", "<", "{"),
    "core.markup.frame_tokens:ANY": ("<|start|>\nassistant\nto=", "s", ""),
    "core.markup.frames:_MAY_BEGIN": ("", "<", "a"),
    "core.markup.jsonish:_ESCAPE": ("\\x00", "\\x", " "),
    "core.markup.jsonish:_FOLLOWED_AS_KEY": (" ", " ", ""),
    "core.markup.jsonish:_NUMBER": ("+-00", "0", "a"),
    "core.markup.jsonish:notation": ("", "<", "\n"),
    "core.markup.sections:_BEGUN": ("<", "a", ""),
    "core.markup.sections:_HEAD": ("", " ", ""),
    "core.markup.sections:_LEFT_OVER": ("`", "`", ""),
    "core.markup.tagged:_ATTRIBUTE": ('- = "', "- '", "/"),
    "core.markup.tagged:_BLANK": (" ", " ", ""),
    "core.markup.tagged:_BLANK_BEGUN": ("", "\\", ""),
    "core.markup.tagged:_DIRECT": (" ", " ", ""),
    "core.markup.tagged:_DRIFTED": ("</:param:", " ", "-"),
    "core.markup.values:_ESCAPED_JSON": (" [\\n", " ", ""),
    "core.markup.values:_INTEGER": ("+0", "0", "a"),
    "core.markup.values:_NUMBER": ("+0.0E", "0", "a"),
    "core.dialects.anthropic.errors:_NOTHING_LEFT": ("", "c", "A"),
    "core.dialects.anthropic.errors:_NO_MODEL": (" ", " ", ""),
    "core.dialects.anthropic.urls:_VERSIONED": ("//v0v", "0", "\n"),
    "core.dialects.writing.call_ids:_FORMS": ("", "0 ", " "),
    "core.dialects.reading.errors:_BAD_KEY": ("invalid api", "a", "A"),
    "core.dialects.reading.errors:_DEFAULT_PAGE": ("404 the requested file was ", "n\n", ""),
    "core.dialects.reading.errors:STATUS_BY_WORDS": ("resource has been ", "r", "A"),
    "core.dialects.reading.errors:_CODE": ("a", "-", ""),
    "core.dialects.reading.errors:_MISTAKE_AS_CRASH": ("images", "gt", "A"),
    "core.dialects.reading.errors:_NO_MODEL": ("unknown ", "no f", "A"),
    "core.dialects.reading.errors:_NO_QUOTA": ("insufficient _", "_", "\n"),
    "core.dialects.reading.refused_fields:_CAMEL": ("", "a", "0"),
    "core.dialects.reading.refused_fields:UNKNOWN_FIELD": ("Unsupported parameter(s)", "property k", ")"),
    "core.dialects.reading.field_names:_FIELD": ("", "a", ""),
    "core.dialects.reading.field_names:_NAMED": ("unsupported parameter(s)", "u", "-"),
    "core.dialects.writing.data_urls:_READABLE": ("application/+", "+", ""),
    "core.dialects.google.errors:_BAD_KEY": ("api key ", "api key ", "\n"),
    "core.dialects.google.errors:_DAILY": ("per_", "dper_", "0"),
    "core.dialects.google.errors:_DELAY": ("0", "0", ""),
    "core.dialects.google.models:TRAITS": ("geminia", "geminiae", "\n"),
    "core.dialects.google.urls:_PASTED": ("/models//", "/models//\n", "\n"),
    "core.dialects.google.urls:_VERSIONED": ("/v0v", "a", " "),
    "core.dialects.reading.lessons:says": ("tools array too long ", "tools ", "\n"),
    "core.dialects.reading.overflow:LOOK_ALIKE": ("", "s", "A"),
    "core.dialects.reading.overflow:RATE_LIMIT": ("rate ", "rate t", "A"),
    "core.backends.target:_HOST": ("-.-.", "\x80-.-", " "),
    "core.dialects.reading.refused_fields:_STEP": ("AA", " A", " "),
    "core.dialects.reading.echoes:_ESCAPE": ("\\", "\\\\", "A"),
    "core.dialects.reading.echoes:_WORD": ("0", "A0", "A"),
    "core.masking.redact:_NAME": ("", "+", ""),
    "core.schemas.ecma:_TOKEN": ("\\P{gc=", "(", " "),
    "core.masking.redact:_NAMED": ("authorization", "_ ", ")"),
    "core.masking.redact:_SECRETS": ("eyJ-----.", " p", " "),
    "core.masking.redact:_UNSEEN": ("\x00", "a\x00", "a"),
    "core.recorded.masking:_DIGIT": ("", "a", ""),
    "core.recorded.masking:_LINE": (" ", " ", "x"),
    "core.recorded.masking:_NUMBER": ("0", "0.", "x"),
    "core.recorded.masking:_PROTOCOL": ("", "a", "!"),
    "core.recorded.masking:_TOKEN": ('"', '\\"', ""),
    "core.recorded.masking:_UNIT": ("", "\\u", "0"),
    "core.recorded.masking:_WORD": ("0", "0.", "x"),
    "core.recorded.keys:_LIKE_A_KEY": ("sk-", "sk-aaaaaa.", "."),
    "core.recorded.trusting:_TOKEN": ("rp1.", "rp1.aaaaaaaaaaaaaaaaaaaaa ", " "),
    "core.masking.secrets:_BASE64": ("+", "+", " "),
    "core.masking.secrets:_SCHEME": ("A", "A", ""),
    "core.stream.object_tracker:_STRING_END": ("", "a", "a"),
    "core.stream.object_tracker:_STRUCTURE": ("", "a", "a"),
    "core.schemas.aliases:_FOREIGN": (" ", "0 ", "0"),
    "core.schemas.aliases:_STRING": ('":\\":" ', '"', '"'),
    "core.tools.kinds.custom:_HEREDOC": ("\tapply_patch\t<<", "\t", ""),
    "core.schemas.references:_FOREIGN": ("", " ", "-"),
    "core.tools.names:_FOREIGN": ("", " ", "-"),
    "core.tools.names:_LETTER": ("", "A", ""),
    "core.schemas.patterns:_TOKEN": ("", "[", "]"),
    "core.schemas.traversal:_INDEX": ("1", "0", ""),
    "core.masking.unseen:UNSEEN": ("", "\x00", "a"),
    "demo.chunks:TOKEN": (" -", "a-", "a"),
    "demo.prompt:AFTER_PREPOSITION": ("\nin\na", " n", "!"),
    "demo.prompt:BETWEEN_SUBJECTS": (" and ", "r ", "0"),
    "demo.prompt:CAPITALISED": ("A'\tA", "A'\tA\t", "\n"),
    "demo.prompt:NUMBER": ("-0.0", "0-", " "),
    "demo.prompt:WORD": ("a'a", "'a", "_"),
    "shell.http.answers:SAFE_REQUEST_ID": ("", "-", ""),
    "shell.serving.routes:ROUTES": ("/v1/responses/", "/", "\n"),
    "shell.stores.postgres.wording:FOUND_BY_ITEM": ("item = $", "$i", "a"),
    "shell.stores.postgres.wording:INDEXED": ("", " ", "a"),
    "shell.stores.postgres.wording:TYPES": ("", " m", "A"),
    "shell.stores.postgres.wording:translated": ("", "a", "a"),
}

BOUNDED: Mapping[str, tuple[int, str]] = {
    "core.dialects.google.models:TRAITS": (1024, "a model's name has 1,024 characters at most"),
    "core.schemas.patterns:_TOKEN": (
        1000,
        "MAX_PATTERN, and Python has read it before: every bracket is closed",
    ),
}
"""What grows faster than its text: how long the text can be, and why it is no longer, and no worse than in its row."""
MOST_STEPS = 200_000
"""For such a text, at its longest."""

USED: Mapping[str, str] = {
    "core.policy.admission:_matcher": "match",
    "core.markup.families.notations.arrows:_STRING": "match",
    "core.markup.families.notations.arrows:_STRING_BEGUN": "match",
}
"""How patterns are used that are handed on without a name."""

OF_CLIENTS: Mapping[str, str] = {
    "core.schemas.patterns:compiled": "priced before they are run, or run in a process that can be ended",
}
"""Patterns of strangers, and why they do no harm."""


def _openers() -> Openers:
    return Openers(FORMATS)


def _closers() -> list[re.Pattern[str]]:
    openers = _openers()
    readers = [openers.readers(opener) for format in FORMATS for opener in format.openers]
    return list({one.closed.pattern: one.closed for one in readers if one.closed}.values())


def _code_closer() -> list[re.Pattern[str]]:
    tracker = CodeTracker()
    tracker._open_fence("`", 3, 8)
    return [tracker._closer]


def _secrets() -> list[re.Pattern[str]]:
    whole = Secrets(["sk-aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaa"])._whole
    assert whole
    return [whole]


MADE_LATER: Mapping[str, Callable[[], list[re.Pattern[str]]]] = {
    "core.markup.code:CodeTracker._open_fence": _code_closer,
    "core.markup.openers:Openers.__init__": lambda: [_openers()._whole, _openers().begun],
    "core.markup.openers:_readers_of": _closers,
    "core.markup.quotation:_closing": lambda: [
        pattern for before in ('"', '"""\n', "\\verb|", "« ", "(") if (pattern := _closing(before))
    ],
    "core.markup.quotation:_open_region": lambda: [
        pattern
        for before in ("<pre>", "<!--", "<![CDATA[", "\\begin{minted}", "<<EOF\n")
        if (pattern := _open_region(before))
    ],
    "core.dialects.anthropic.models:traits_of": lambda: [
        re.compile(row.name + models._NOT_A_LATER_VERSION) for row in models.TRAITS
    ],
    "core.policy.admission:_matcher": lambda: [_matcher(("get_*", "*a*b*c*d")).__self__],
    "core.masking.secrets:Secrets.__init__": _secrets,
}
"""What is made of a configuration, a dialect or a text: examples."""
