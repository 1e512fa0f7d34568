"""In words: what each counter of a request's line means. A test compares the names with those that the core counts."""

from collections.abc import Mapping
from typing import Final

from proxy.core.inspected.fault_words import FAULTS

ODDITIES: Final[Mapping[str, str]] = {
    "annotation_unknown": "The backend said something of its text that is no link to a source; it was left out.",
    "annotations_misplaced": "Annotations came where they belong to no text; they were left out.",
    "arguments_after_call": "Arguments came for a call that had ended; they were left out.",
    "arguments_differ": "The backend told the arguments of a call twice, and not alike; what came first stands.",
    "arguments_not_text": "The backend sent a call's arguments as an object, not as text; they were written as text.",
    "arguments_repeated": "The backend sent the same arguments of a call twice; they were taken once.",
    "blank_prose": "Nothing but white space stood around a call; it was left out.",
    "block_malformed": "A block of the backend's reply did not have the form that it must have.",
    "block_never_stopped": "The backend began a block, and never ended it; the proxy did.",
    "block_stop_misplaced": "The backend ended a block that it had not begun.",
    "block_unknown": "The backend sent a kind of block that is not known here; it was left out.",
    "call_dropped_cut": "A call was left out, because it was cut off before it was complete.",
    "call_dropped_forbidden": "A call was left out, because the request allows no calls.",
    "call_id_replaced": "Two calls in the client's history had the same id; one got another.",
    "call_name_with_markup": "The name of a call had markup of the model's template in it, which was taken out.",
    "call_not_an_object": "What should be a call was no object; it was left out.",
    "call_repeated": "The backend sent the same call twice; it was taken once.",
    "call_repeats_markup": "The backend sent a call twice, as markup in its text and as a call; it was taken once.",
    "call_repeats_thought": "The model wrote the same call in its thoughts and in its answer; it was taken once.",
    "call_undeclared": "The model called a tool that the request does not declare; the client got the call as it is.",
    "call_without_function": "A call had no function in it; it was left out.",
    "call_without_name": "A call had no name; it was left out.",
    "calls_not_a_list": "The backend's list of calls was no list.",
    "choice_not_an_object": "What should be a choice was no object; it was left out.",
    "choices_not_a_list": "The backend's list of choices was no list.",
    "chunk_not_an_object": "A chunk of the backend's stream was no object; it was left out.",
    "chunk_unknown": "A chunk of the backend's stream had nothing in it that is known here.",
    "chunk_without_choices": "A chunk of the backend's stream had neither choices nor anything else known here.",
    "content_part_unknown": "The reply's content had a part of a kind that is not known here; it was left out.",
    "delta_after_end": "The backend went on after it had said that its reply was at its end; that was left out.",
    "delta_after_item": "The backend went on with an item that it had ended; that was left out.",
    "delta_field_unknown": "A chunk had a field that is not known here; it was left out.",
    "delta_malformed": "A piece of the backend's reply did not have the form that it must have.",
    "delta_misplaced": "A piece of the backend's reply stood in a block of another kind.",
    "delta_not_an_object": "What should be a piece of the reply was no object; it was left out.",
    "delta_unknown": "The backend sent a kind of piece that is not known here; it was left out.",
    "event_empty": "The backend sent an event without anything in it.",
    "event_not_an_object": "An event of the backend's stream was no object; it was left out.",
    "event_unknown": "The backend sent a kind of event that is not known here; it was left out.",
    "events_run_together": "The backend forgot the blank line between events; they were taken apart.",
    "fault_after_end": "The backend told an error after the end of its reply; the reply stands.",
    "finish_missing": "The backend never said why its reply ended.",
    "finish_not_a_word": "The backend's reason for the end of its reply was no text.",
    "finish_repeated": "The backend said twice why its reply ended.",
    "finish_unknown": "The backend gave a reason for the end of its reply that is not known here.",
    "frame_tokens_unread": "The text was full of what only looked like special tokens; its rest was passed as it is.",
    "frame_token": "A special token of the model's template stood in its text; it was taken out.",
    "held_call_cut": "A call that was held back to be checked was cut off before its end.",
    "item_malformed": "What should be an item of the reply was no object; it was left out.",
    "item_repeated": "The backend began the same item twice; it was taken once.",
    "item_unknown": "The backend sent a kind of item that is not known here; it was left out.",
    "item_unwritable": "The backend sent an item that cannot be written as JSON again; it was left out.",
    "json_mended": "The backend sent JSON with a mistake in it, which could be mended.",
    "malformed_arguments": "The arguments of a call are no complete JSON.",
    "hosted_left_out": "A tool at the provider did something that the client's API has no form for; it was left out.",
    "message_malformed": "The backend's message did not have the form that it must have.",
    "missing_output": "The client's history has a call without its output; an empty one was put in.",
    "no_answer": "The reply ended with thoughts alone, without an answer or a call.",
    "other_choice": "The backend sent more than one choice; only the first was taken.",
    "parallel_call": "The model made several calls though the client wants one at a time; the first was taken.",
    "output_pending": "A tool of the client's is still working; the model was told that its result will come later.",
    "part_not_an_object": "What should be a part of the reply was no object; it was left out.",
    "part_unknown": "The backend sent a kind of part that is not known here; it was left out.",
    "ping_with_words": "The backend's sign of life was words instead of a comment; they were left out.",
    "placeholder_arguments": "The backend began a call with arguments that only hold its place; they were replaced.",
    "text_cut": "The stream broke off within a character; the half of it was left out.",
    "text_differs": "The backend told a text twice, and not alike; what came first stands.",
    "text_as_number": "The backend sent a piece of its text as a number, or as true or false; it was written as text.",
    "text_not_a_string": "What should be text was none; it was written as text, or left out.",
    "text_unsearched": "The backend sent so much text at once that it and what followed was not searched for calls.",
    "thought_taken_back": "What had been taken for thoughts was the answer, and was sent as text.",
    "thought_told_twice": "The backend told a thought and its summary; the one that came first was taken.",
    "thought_unopened": "The model ended a thought that it had not begun; what stood before was taken as the thought.",
    "usage_malformed": "The backend's count of tokens did not have the form that it must have.",
    "usage_without_counts": "The backend's count of tokens had no numbers in it.",
}  # fmt: skip
"""What a backend or a client did that is strange, and could be understood or had to be left out."""

LOSSES: Final[Mapping[str, str]] = {
    "async": "That the model is to go on after a call without its result: it ends its turn there.",
    "audio": "Audio in the history: it names what was said aloud on another server.",
    "compaction_trigger": "A request to compact the history on its way: the proxy compacts only when it is asked to.",
    "defer_loading": "That the model is to find a tool by searching: it is told of all tools at once.",
    "file": "A file: this backend takes none.",
    "foreign_reasoning": "Thoughts of a response that is not kept here.",
    "foreign_token": "Encrypted thoughts that another server has made: nobody here can read them.",
    "format_enforcement": "The form of the answer is only asked for, not enforced: this backend cannot do both.",
    "half_call": "A call of the history that was cut off, with whatever answered it.",
    "hosted_call": "A call of a tool that runs at a provider.",
    "hosted_item": "What a tool at a provider has done, in the history: this backend does not read it.",
    "hosted_tool": "A tool that runs at a provider: this backend runs none.",
    "image": "An image: this backend takes none.",
    "item_reference": "A reference to an item that is not kept here.",
    "item_twice": "An item that the conversation has already.",
    "max_tool_calls": "How often tools at a provider may be called: there are none that could be.",
    "misplaced_part": "A part that this backend does not take at this place of the history.",
    "name": "The name of a participant: this backend takes none.",
    "orphan_output": "The output of a call that is not in the history.",
    "parallel_tool_calls": "Whether calls may be made in parallel: this backend cannot be told.",
    "reasoning": "Thoughts in the history: this backend does not want them back.",
    "reasoning_context": "Which thoughts the model sees again: this backend cannot be told.",
    "reasoning_effort": "How much to think: this backend cannot be told, or knows no such level.",
    "reasoning_mode": "The mode in which to think: this backend cannot be told.",
    "service_tier": "The service tier: this backend has none of that name.",
    "signature": "The signature of a thought or a call that another backend has made.",
    "stop": "Stop sequences: this backend takes none, or fewer.",
    "strict": "The tool's schema is not enforced by this backend.",
    "tool": "A tool that this backend cannot be given.",
    "tool_choice": "Which tool to call: this backend cannot be told, or the tool was left out.",
    "tool_output_part": "A part of a tool's output that this backend does not take.",
    "unknown_item": "An item of a kind that is not known here.",
    "unknown_part": "A part of a kind that is not known here.",
    "user": "The name of the user: this backend does not take it.",
}  # fmt: skip
"""What of the client's request the backend was not given. Fields of the request have no row here: see `loss`."""

FOUND_IN_TEXT: Final[Mapping[str, str]] = {
    "capped": "Text that begins like a tool call was too long to be one; it stays text.",
    "omitted": "A call of an undeclared tool was left out; beside it are calls of declared ones.",
    "quoted": "Text that looks like a tool call is only quoted, as in an explanation; it stays text.",
    "recovered": "A tool call in the text became a call; the model had written it as text.",
    "released": "Text that begins like a tool call was none; it stays text.",
    "stripped": "A tag of a tool call was taken out of the text; it stood there alone.",
    "undeclared": "What looks like a tool call names no tool of the request; it stays text.",
    "unread": "There was too much text that looks like tool calls; the rest stays text.",
}  # fmt: skip
"""What became of text that looks like a tool call. A line of the log has what stands before the semicolon."""


def oddity(name: str) -> str:
    """The guard counts what it finds by the codes of faults."""
    if name in FAULTS:
        return FAULTS[name].what
    return ODDITIES.get(name) or f"Something strange that has no words here yet: {name}."


def loss(name: str) -> str:
    kind, _, detail = name.partition(":")
    if kind == "schema" and detail:
        return f"The schema's keyword {detail}: this backend does not enforce it. The model is told of it in words."
    return LOSSES.get(kind) or f"The field {kind}: it has no effect here, or this backend does not know it."


def markup(name: str) -> str:
    outcome, _, notation = name.partition(":")
    words = FOUND_IN_TEXT.get(outcome) or f"Text that looks like a tool call: {outcome}."
    return f"{words} Its notation is {notation}." if notation else words


def markup_in_brief(name: str) -> str:
    outcome, _, notation = name.partition(":")
    what, _, _ = FOUND_IN_TEXT.get(outcome, outcome.replace("_", " ")).partition(";")
    return f"{what[:1].lower()}{what[1:]} ({notation or '-'})"
