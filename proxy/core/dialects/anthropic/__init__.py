"""Anthropic's Messages API.

- `encode` makes the body: `messages` its conversation, `content` the blocks, `tools` what may be called, `thinking` how
  much may be thought and said. `models` knows what each generation takes.
- `decode` reads events and whole messages, `ending` the stop reason and the usage, `errors` the types of error.
- `lessons` says what refusals teach, `urls` where to ask, `counting` how tokens are counted.
"""
