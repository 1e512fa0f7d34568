"""The sentences of ours that models and clients read, where the client's own words could not be passed on."""

PARTS, MESSAGES = "\n", "\n\n"
"""These stand between the parts of one message, and between messages that become one."""

CONTINUE = "Continue."
"""The proxy says this for the user where the backend needs a user's message last: otherwise it would refuse, or
continue the last answer as its own."""

MOVED = "[more in the next message]"
MOVED_BEHIND = "[more after the results]"
"""Stand in the place of what a tool returned and a result cannot hold."""

NO_IMAGES = "[image left out: this model reads text only]"
NO_LINKS = "[image left out: this backend takes images inside the request only]"
NO_FILE = "[file left out: this backend cannot read it]"
UNREADABLE = "[left out: this model cannot read it]"

ALWAYS_THINKS = "This model cannot be told not to think; it was asked to think as little as it can."


def called_with(tool: str, arguments: str) -> str:
    """Tells a call, where it has to be text."""
    return f"[called {tool}: {arguments}]"


def returned_by(tool: str) -> str:
    """Introduces what was moved out of a tool's result."""
    return f"[returned by {tool}]"


def as_instruction(words: str) -> str:
    """Marks an instruction of the system's, where a user has to say it."""
    return f"<system>\n{words}\n</system>"
