"""The proxy without its sockets: pure functions and push machines, which neither wait nor look at a clock.

Words that all rooms share:

    model         what a client asks: turns and parts, tools, wishes
    events        what a backend answers: deltas, which promise nothing, and events, which promise order
    extras        what backends want back with their thoughts and calls
    sink          where a reply goes, its events and its text apart
    errors        what can go wrong, by who must act
    argument_problem  what is wrong with the arguments of a call
    profile       what a backend can do: one field for each oddity
    catalog       the models that clients may name
    tenants       who asks, and what each may do
    facts         what the log line of a request may hold
    ledger        what happened beside the answer: counts for the log and the metrics, warnings for the client
    ids           ids in the forms that clients know
    work          what one request may cost
    weight        what a JSON text takes in memory
    jsontext      JSON text in and out
    unquoted      what stands outside of the strings of a JSON text
    sse           server-sent events
    fragments     reasoning that came in pieces
    logprobs      the log probabilities that belong to a text
    annotations   what is said of places in a text

Rooms; arrows between them point downward only (a test reads the imports):

    recorded      an exchange as a file, and once more
    flow          what one request passes in the other rooms, in its order
    examination   what a backend really can, compared with its profile
    surfaces      what clients speak
    dialects      how backends speak
    stored        what the API remembers: responses, conversations and their items
    stream        a reply in order
    markup        tool calls found in text
    policy        limits, checks, breaker and retries
    backends      which backends there are
    tools         names and kinds of tools, and the check of arguments
    schemas       JSON Schema, and what is left of it for a provider
    masking       what the log may repeat
    tracing       how a trace goes on from a client to a backend
    caches        what is remembered, within bounds
    inspected     what a person is shown of a request

A surface and a dialect know nothing of each other: they meet in `model` and `events`.
"""
