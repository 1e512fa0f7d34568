"""The proxy without its sockets: pure functions and push machines.

Arrows point downward only (a test reads the imports):

    inbound, outbound, policy, stream → markup  →  tools  →  model, events, capabilities, errors, ids, sse …

*inbound* knows what clients speak, *outbound* what backends speak, *stream* puts a reply in order, *markup* finds tool
calls in text, *tools* keeps names, kinds and schemas, *policy* decides. None of them knows another's dialect: they
meet in `model` (what is asked) and `events` (what is answered).
"""
