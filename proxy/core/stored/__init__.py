"""What the API remembers, as data: records of responses, what may become of them, and how they are read and listed.

- `record`: one response as it is kept; its statuses, and which follows which
- `conversation`: a conversation and the places of its items
- `private`: what a kept item has that no client is shown
- `kept_items`: items in the form in which they are kept, with an id each
- `named`: what a request names that is kept
- `histories`: what a request continues, as the items before its own
- `references`: a request's own items beside its history
- `answered`: which calls have their output already
- `prompts`: the prompt of a loop, sent again in front of the outputs of its tools
- `queries`: the query of a request that reads what is kept
- `pages`: lists of items, page by page
- `answers`: what clients get of what is kept
- `so_far`: the output of a response that is not finished, out of its events
- `endings`: how a record ends, and the event that tells of an end
- `faults`: what can be wrong about what is kept, in the words that clients compare

Nothing here knows where records lie: that is `proxy.shell.stores`.
"""
