"""The sockets around the core: everything that awaits, and nothing that knows a dialect.

    server ─▶ http ─▶ engine ─▶ upstream
                        └────▶ discovery ─▶ upstream

*engine* is the conductor: the only file that knows the order in which one request passes the core's rooms.
"""
