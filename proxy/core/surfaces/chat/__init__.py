"""Chat Completions, as clients speak it.

surface       puts the modules of this folder together for one request
envelope      the fields around the messages
decode        from the client's JSON to a request
turns         messages, by their roles
tools         declared tools and functions
calls         the two forms of a call: tool_calls, and the older function_call
proofs        what a model puts beside its calls and wants back
completion    the completion object, and what chunks share with it
encode        from events to the stream
"""
