"""What the demo model was told last, as far as the tests of what is kept look at it."""

from collections.abc import Sequence

from proxy import demo


def roles(asked: Sequence[demo.Recorded]) -> list[str]:
    """Of the messages of the newest request, in order."""
    return [message["role"] for message in asked[-1].body["messages"]]
