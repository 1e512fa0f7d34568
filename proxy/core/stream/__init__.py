"""A reply on its way back: bytes in, ordered events out.

    intake → (decoder) → think → (markup) → frames → assembler → (stages) → (encoder)

Each stage is a class with `feed`, most with `close`, and is made with the next stage's `feed`. Only the assembler makes
promises.

    pipeline          connects the stages for one reply
    intake            decides what kind of body it is, and reads events or one object
    think             splits reasoning in tags from the text
    prompted          splits replies that begin inside a thought
    shortcut          takes more of what is open past them, while they would only pass it on
    assembler         puts everything in order: the state machine
    one_part          one part at a time, and what waits behind it: what clients are told
    parts             the parts of a reply while they are received: prose and calls
    object_tracker    finds whether growing arguments are one whole object by now
    client_call_ids   the ids by which clients know the calls
    ending            how a reply ends, by what it has said of that
    empty_reply       decides whether a finished reply holds an answer
    lifecycle         what may follow what, as tables
    observer          sees what passes between the stages, and changes nothing
    stages            what stands between the assembler and a client
"""
