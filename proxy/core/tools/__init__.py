"""Tools between a client that declares them and a backend that sees only plain functions.

names         the reversible table: client's name, namespace and kind ↔ the one name upstream
schema        is it a JSON Schema? and what is left of it for a backend
reductions    what servers choke on, left out
rewriting     the same schema in a provider's words: told or refused, never silently lost
strictness    what a strict tool must be like
arguments     do the arguments of a call fit the client's schema?
capability    what a backend can do, and what it is never asked for
custom        the function that stands for a tool with free text as its input
prepare       all of it for one request and one backend
"""
