"""The Chat Completions API, as some thirty kinds of backends speak it.

- `encode` makes the body, `messages` its conversation, `content` what is no plain text in it.
- `decode` reads chunks and whole replies, `parts` the lists in them, `sources` the links beside their text,
  `template` the token in an event that is otherwise the same as the one before, `ending` the finish reason
  and the usage.
- `lessons` says what refusals teach, `urls` where to ask, `counting` how tokens are counted.
"""
