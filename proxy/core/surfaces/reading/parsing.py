"""A client's JSON, out of a body or a message: parsed up to a limit, so that other requests do not wait for it."""

from typing import Any

from proxy.core import jsontext
from proxy.core.errors import ClientFault, OwnWords
from proxy.core.jsontext import MAX_VALUES


def parsed(data: bytes, what: str, advice: str, *, exact: bool = True) -> Any:
    """The value of the data. A complaint says `what` cannot be read, and ends with `advice`. `exact`: see
    `jsontext.loads`."""
    try:
        return jsontext.bounded(data, exact=exact)
    except jsontext.TooManyValues:
        raise ClientFault(
            f"{what} holds more than {MAX_VALUES} values, lists, objects and names: send fewer.",
            code="too_many_values",
            own_words=OwnWords(f"There are more than {MAX_VALUES} values, lists, objects and names."),
        ) from None
    except jsontext.BadJson as error:
        raise ClientFault(f"{what} is not valid JSON: {error}. {advice}", code="invalid_json") from None
