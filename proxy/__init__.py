"""A complete, fast, honest Responses API in front of any Chat Completions, Anthropic or Gemini backend.

The tree is the first diagram: `core` holds everything that needs no wait (no `async`, no clock, no randomness, no
sockets), `shell` holds everything that waits. `app` wires the two together; `configured` makes backends and tenants of
the settings, `storage` the store, and `live_server` the part of it that may be lost, where that is apart.

- `cli` starts it all; `codex` starts Codex with it, and `demo` is a backend without a model.
- `store_commands` shows and changes what is kept, in the store that `store_finding` finds: `store_files` or
  `store_database`.
- `settings` defines each setting, `setting_values` and `server_urls` check its value, `config` reads them all from
  their sources, and `signing` chooses the secret behind signed tokens.
- `supervisor` starts each `worker`; `process` is what every process needs.
"""

__version__ = "0.1.0"
