"""A reply on its way back: bytes in, ordered events out.

    intake → (decoder) → think → (markup) → assembler → (stages) → (encoder)

Each stage is a class with `feed`, most with `close`, and is made with the next stage's `feed`. Only the assembler makes
promises.

    pipeline          strings the stages together for one reply
    intake            decides what kind of body it is, and reads events or one object
    think             splits reasoning in tags from the text
    prompted          does so for replies that begin inside a thought
    assembler         puts everything in order: the state machine
    parts             the parts of a reply while they are received: prose and calls
    object_tracker    tells whether growing arguments are one whole object by now
    client_call_ids   the ids by which clients know the calls
    ending            what a reply has said about its own end
    empty_reply       decides whether a finished reply holds an answer
    lifecycle         what may follow what, as tables
    observer          somebody who sees what passes and changes nothing
    stages            what stands between the assembler and a client
"""
