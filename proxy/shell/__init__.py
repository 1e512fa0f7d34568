"""The sockets around the core: everything that awaits, and nothing that knows a dialect.

    server ─▶ body, http ─▶ engine ─▶ backend ─▶ discovery
                                         └─────────┴─▶ upstream

*server* has the paths, *body* reads requests, *http* answers them. *engine* is the conductor: the only file that knows
the order in which a request passes the core's rooms; *turn* is what it keeps of one. *backend* puts requests to the
model and learns from refusals, *discovery* finds out what stands behind a URL, *upstream* has the connections.
"""
