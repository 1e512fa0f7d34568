"""What the decoders of all surfaces read alike.

parsing        bytes, to JSON
fields         the fields around the messages, checked by forms
messages       a list of messages, each by its role: for chat and native
content        content parts
tools          declared tools
tool_choice    which of them may or must be called
history        turns, put into the one order that every backend accepts
checks         complaints in plain words, with the path of what is wrong
"""
