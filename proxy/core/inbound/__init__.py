"""What clients speak: per surface one module that decodes its requests and one that encodes the answers.

A decoder walks the client's JSON by tables of `type → function`: a new input item is one function and one row in
`responses_items`, a new content part one in `responses_parts`, a new kind of tool one in `responses_tools`. What the
tables do not know is counted and ignored; what they know but cannot read is a 400 that names the exact place.
`history` puts any surface's turns into the one order that every backend accepts, and `clients` knows the clients
that want things their own way.
"""
