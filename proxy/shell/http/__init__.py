"""HTTP on both sides, and the fence around aiohttp: besides this room only `server` and `websocket` import it.

Towards clients:

- `connection` is one client's connection, `connections` are all of them, and `malformed` says what is wrong with bytes
  that are no request.
- `body` reads what a request holds, `handshake` checks a request that wants a WebSocket.
- `answers` writes whole answers and errors, `stream` writes the events of a reply, and `heartbeat` fills the silence
  between them.

Towards backends:

- `transport` is what the proxy asks of a way to backends, and `upstream` the one over the network.
- `client` sends one request and keeps the connections, `wire` is one of them, `answer_body` what comes on that, be it
  read or handed over at once, and `exchange` reads it under time limits.
- `content_coding` decompresses answers, and `failures` says which fault a broken connection is.

On both sides:

- `head` writes the head of a message, `pace` keeps any connection from holding the event loop, and `deadlines` ends
  waits that last too long.

What aiohttp exports for servers is imported from the modules that define it. The package of all of it would bring
applications, a router and files, a megabyte of which nothing is used.
"""

PRIVATE_NAMES = {
    "base_protocol.BaseProtocol._reading_paused": "Does a full reader hold the socket? `pace` then holds its pieces.",
    "base_protocol.BaseProtocol._buffer_paused": "Does a full queue of requests hold it? See the one above.",
    "base_protocol.BaseProtocol._pause_reading_for_buffer": "stops reading, whatever aiohttp's own readers ask for",
    "base_protocol.BaseProtocol._resume_reading_for_buffer": "ends that where a backend may go on",
    "base_protocol.BaseProtocol._pause_transport_reading": "stops reading while `pace` has pieces left",
    "base_protocol.BaseProtocol._resume_transport_reading": "overridden: those pieces come before new bytes",
    "base_protocol.BaseProtocol._drain_helper": "overridden: an interrupted wait must not cancel those after it",
    "web_protocol.RequestHandler._messages": "the queue of requests, behind which aiohttp puts a body's broken framing",
    "web_protocol.RequestHandler._waiter": "Does the connection wait for a head? It may be told that none will come.",
    "web_protocol.RequestHandler._request_count": "Is it the first head, for which nobody waits yet?",
    "web_protocol.RequestHandler._current_request": "the one whose body must be told that its framing broke",
    "connector.BaseConnector._factory": "replaced: connections are to be of our own class, `wire.Wire`",
}
"""Every private name of aiohttp that this room uses because there is no public one, by module and class, with the
reason. The next minor version may change any of them, so `pyproject.toml` excludes it. Two modules use public names
in a way that is not documented: `body` corrects a writer's count after `100 Continue`, and `stream` gives aiohttp
responses that were sent already."""
