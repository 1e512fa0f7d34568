"""The engine in the memory of one process: what the others are measured by.

- `shelf`: one tenant's responses and conversations, and what holds what was deleted
- `state`: all that there is, and the steps that several methods share
- `conversations`: the methods of conversations
- `records`: all of `Records`
- `meters`, `queues`: what is shared of limits, for `live`
- `live`: all of `Live`
"""
