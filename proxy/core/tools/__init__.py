"""Tools between a client that declares them and a backend that sees only plain functions.

- `prepare` makes the tools of one request ready for one backend, with the client's choice among them applied.
- `names` keeps the reversible table: client's name, namespace and kind ↔ the one name upstream.
- `kinds` translates each kind of tool into a function and back.
- `support` refuses what a backend cannot do in any way.
- `answers` checks an answer against the form that the client asked for.
- `arguments` checks the arguments of a call against the client's schema.
"""
