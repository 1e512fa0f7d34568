"""How a trace goes on from one server to the next.

- `trace_context` reads and writes the headers that say so.
"""
