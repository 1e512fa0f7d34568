"""A complete, fast, honest Responses API in front of any Chat Completions, Anthropic or Gemini backend.

The tree is the first diagram: `core` holds everything that can be said without waiting (no `async`, no clock,
no randomness, no sockets), `shell` holds everything that waits. `app` wires the two together, `cli` starts it.
"""

__version__ = "0.1.0"
