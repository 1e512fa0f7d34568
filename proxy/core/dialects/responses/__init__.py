"""The Responses API, as the backends speak that have it themselves.

- `encode` makes the body: `items` its conversation, `content` what is no plain text in it, `tools` what may be called,
  `calls` what was called and is no function.
- `decode` reads events and whole replies, `saying` tells what is in them, once. `growing` knows what was said of each
  item so far, `left_out` what only the final response says. `entries` reads items, `ending` status and usage, `errors`
  the errors inside a reply. `thoughts` keeps what the model wants back.
- `lessons` says what refusals teach, `urls` where to ask, `counting` how tokens are counted.
"""
