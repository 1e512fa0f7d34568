"""What clients speak: one folder for each surface, the same file names in each, and beside them what they share.

    surface      what a surface promises the engine, and the context of one request
    clients      profiles of known clients that want something done their own way
    errors       how a fault is told
    framing      how an event is put on a transport
    reading      what all decoders read alike, and refuse in the same words
    memory       what the proxy remembers for clients, and what they keep for it
    responses    the Responses API
    chat         Chat Completions
    native       a stricter Chat Completions with parsed arguments; it alone may know another surface, chat
    catalog      the list of models
    openapi      the description of the API

A decoder goes through the client's JSON by tables of types and functions: a new input item, content part or kind of
tool is one function and one row. What no table knows is counted and ignored. What a table knows but cannot read is
refused by a 400 that names the exact path.
"""
