"""What clients speak: per surface the modules that decode its requests and those that encode the answers.

    surface                    what one promises the engine; a class each: `responses_surface`, `chat_surface`, …
    responses_*, chat_*, native_*    the three of them; native is a stricter chat whose calls are told otherwise
    messages                   what chat and native read alike
    history                    any surface's turns, in the one order that every backend accepts
    toolbox, tool_choice, envelope, checks    what all of them read alike, and refuse in the same words
    clients                    those that want things their own way
    recall, call_map, signer     what is remembered for clients, and what they keep for us

A decoder walks the client's JSON by tables of `type → function`: a new input item is one function and one row in
`responses_items`, a new content part one in `responses_parts`, a new kind of tool one in `responses_tools`. What the
tables do not know is counted and ignored; what they know but cannot read is a 400 that names the exact place.
"""
