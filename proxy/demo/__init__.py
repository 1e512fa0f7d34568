"""The demo model: a strict Chat Completions server on loopback whose answers are scripted.

`serve` starts it when no backend is configured, so that text, tool calls, reasoning and structured output can be seen
without any account; the tests use the same server and rely on its strictness.

    wire       what a strict backend accepts: the request, checked field by field
    refusals   how it says no, and where it says the fault lies
    prompt     what the words of a prompt ask for: subjects, numbers, mentions
    arguments  values that satisfy a JSON schema, made from the prompt
    script     the mind: a request → an Answer
    chunks     an Answer → Chat Completions chunks, or one whole completion
    server     the HTTP around it
"""

from proxy.demo.server import OVERRIDES, PROFILE, Demo, Recorded, make_app, start

__all__ = ["OVERRIDES", "PROFILE", "Demo", "Recorded", "make_app", "start"]
