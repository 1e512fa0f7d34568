"""The order of the core's rooms: what one request passes on its way to a backend, and its reply on the way back.

It may import all other rooms of the core, and none of them imports it, but `recorded`, which does it all again. The
engine calls these functions between its waits, and so do the tests: what is tested is what runs.

    request    from what a client asked to what one model of one backend is asked
    refused    what it means that a backend takes no request
    taught     what a refusal makes of the next request
    reply      the stages of one reply, composed
"""
