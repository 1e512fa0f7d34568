"""How a trace goes on from one server to the next, and what it tells of a request.

- `trace_context` reads and writes the headers that say so.
- `wishes` names what a model was asked for besides the words.
"""
