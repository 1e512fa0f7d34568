"""Stages between the assembler and a client, each for requests that want it.

answer_form        holds the answer against the form that was asked for
argument_names     gives arguments the property names that the client declared
hosted_left_out    leaves out what tools of the backend's own did, for clients that cannot read it
first_call         passes the first call and drops all others
reasoning_extras   adds what models want back with their reasoning
summary            makes one summary of the whole reply
collector          folds the events into one reply
one_reply          makes several attempts one reply to the client
"""
