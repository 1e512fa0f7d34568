"""The Responses API over WebSockets.

- `session` is one socket, from its handshake to its end; `open_sockets` are all that are open.
- `stream` is the way back for one turn: a message for each event.
"""
