"""How backends speak: a request on its way out, and their answers and refusals on the way in.

    capabilities → profiles    in what backends differ, and how the known ones do
    recognise, lessons         which profile a URL has; what a refusal teaches about it
    target                     where a request goes
    chat_*, call_ids           the Chat Completions dialect

A new backend of a known dialect is an entry in `profiles`; a new dialect is a module beside `chat_encode` and one
beside `chat_decode`.
"""
