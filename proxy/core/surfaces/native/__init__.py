"""A stricter Chat Completions, with parsed arguments and call ids of the proxy's own.

surface    puts the modules of this folder together for one request
decode     from the client's JSON to a request
turns      messages, by their roles
tools      declared tools
calls      calls with their arguments as objects
"""
