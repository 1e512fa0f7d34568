"""What the proxy remembers for clients, and what they keep for it.

reasoning    thoughts that a client cannot carry, remembered by the calls that they led to
call_ids     which call id of the proxy stands for which of the backend
memos        the same, as one process of the proxy tells the others
tokens       signed tokens that clients keep and send back
"""
