"""Tools between a client that declares them and a backend that sees only plain functions.

names         the reversible table: client's name, namespace and kind ↔ the one name upstream
kinds         what each kind of tool is to a backend; `custom` and `local_shell` are functions that stand for two
schema        is it a JSON Schema? and what is left of it for a backend; `meta` answers the first for nearly all
reductions    what servers choke on, left out
rewriting     the same schema in a provider's words (`subsets`): told or refused, never silently lost (`losses`); its
              steps are in `inlining`, `shapes` and `values`, with `unions` and `several_types`
walking       ways through a schema, for all of these
strictness    what a strict tool must be like
arguments     do the arguments of a call fit the client's schema? `patterns` tells what a pattern may cost
capability    what a backend can do, and what it is never asked for
prepare       all of it for one request and one backend
"""
