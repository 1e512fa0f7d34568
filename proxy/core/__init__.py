"""The proxy without its sockets: pure functions and push machines.

Arrows point downward only (a test reads the imports):

    inbound, outbound, stream, tools, policy  →  model, events, errors, ids, sse, jsontext, ledger

*inbound* knows what clients speak, *outbound* what backends speak, *stream* puts a reply in order, *tools* keeps
names and schemas, *policy* decides. None of them knows another's dialect: they meet in `model` (what is asked) and
`events` (what is answered).
"""
