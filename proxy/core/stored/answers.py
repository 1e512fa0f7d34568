"""What clients get of a record: the response object, whole."""

import orjson

from proxy.core import jsontext
from proxy.core.stored.private import public_list
from proxy.core.stored.record import Record


def response_object(record: Record) -> bytes:
    """The response as it ended, or as far as it has come."""
    answer = jsontext.loads(record.answer)
    return jsontext.dumps(answer | {"output": orjson.Fragment(public_list(record.output))})
