"""All cases, by what is refused."""

from tests.refusals import (
    of_backends,
    of_doors,
    of_fields,
    of_kept,
    of_messages,
    of_quotes,
    of_responses,
    of_sockets,
    of_tools,
)

CASES = (
    *of_doors.CASES,
    *of_responses.CASES,
    *of_messages.CASES,
    *of_tools.CASES,
    *of_fields.CASES,
    *of_backends.CASES,
    *of_sockets.CASES,
    *of_kept.CASES,
    *of_quotes.CASES,
)
