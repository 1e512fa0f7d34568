"""The Responses API.

surface            puts the modules of this folder together for one request
envelope           the fields around the input
metadata           pairs of strings beside a response, and their bounds
decode             from the client's JSON to a request
items              input items, by their types
tool_results       what the client's tools returned, as items
tools              declared tools, by their types
calls              the form of each kind of call
hosted             items of tools that a backend runs itself
response           the response object and its items
echo               the members of a request that come back in its response
encode             from events to the stream
message_first      the same stream with its message opened first, for clients that were written against that
compaction         a conversation made shorter
counting           a request whose tokens are to be counted
conversations      requests to make a conversation, to change it, or to add items to it
whole_input        the input with what it names in its place
latest_responses   what a connection remembers of the conversation before
socket_messages    the messages of a WebSocket besides the events
"""
