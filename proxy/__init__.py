"""A complete, fast, honest Responses API in front of any Chat Completions, Anthropic or Gemini backend.

The tree is the first diagram: `core` holds everything that needs no wait (no `async`, no clock, no randomness, no
sockets), `shell` holds everything that waits. `app` wires the two together; `configured` makes backends and tenants of
the settings, `storage` the store, `live_server` the part of it that may be lost, where that is apart, `watchers`
who watches requests, `traces` the one of them that makes traces, and `inspecting` the page that shows them.

- `cli` has the command line, `commands` what each of them does; `demo` is a backend without a model.
- `settings` has every setting, and `signing` chooses the secret behind signed tokens.
- `supervisor` starts each `worker`; `process` is what every process needs.
"""

__version__ = "0.1.0"
