"""The sockets around the core: everything that awaits, and nothing that knows a dialect.

    server ─▶ body, http ─▶ engine ─▶ attempts ─▶ backends ─▶ backend ─▶ discovery
       └─────▶ websocket ─────┘                                  └───────────┴─▶ upstream ─▶ tap

*server* has the paths, *body* reads requests, *http* answers them; *websocket* does both, turn after turn. *engine* is
the conductor: the only file that knows the order in which a request passes the core's rooms. *turn* is what it keeps of
one, *attempts* what follows a failed one. *backends* are all that are configured; each *backend*, behind its *gate*,
puts requests to the model and learns from refusals. *discovery* finds out what stands behind a URL, *upstream* has the
connections, *tap* takes their bytes as they arrive, and *failures* names what goes wrong with them.

Long work is done *beside* the loop, in threads; checks that nothing but their end can stop are made *aside*, in
processes. Then there are *metrics*, and *siblings* that tell one another theirs; *logs*; *tasks*, which do not get
lost; *entropy*.
"""
