"""How backends speak: a request on its way out, and their answers and refusals on the way in.

    capabilities → profiles        in what backends differ, and how the known ones do
    dialects                       the languages, one row each: encode, decode, refusals, addresses, lessons
    chat_*, anthropic_*, google_*  the three of them
    model_rules                    what a model brings along wherever it is served
    recognise, lessons             which profile a URL has; what a refusal teaches about it
    target, routes                 where a request goes

A new backend of a known language is an entry in `profiles`; a new language is modules of its own and a row in
`dialects`.
"""
