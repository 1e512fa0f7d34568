"""JSON Schema: is it one, what can a backend read of it, and does a value conform to it?

This room knows nothing of tools, requests or dialects. Four modules answer the rest of the core:

- `validity` checks that a client's schema is a JSON Schema, and names the place where it is not.
- `for_backend` makes what is left of it for one backend, by rewriting or by loosening.
- `strictness` says what a strict tool must be like.
- `conformance` checks a value against a schema, and counts what that costs.

Behind them, for the meaning of a schema:

- `traversal` walks through a schema; `metaschema` holds what each keyword must be.
- `unions` merges schemas and tells whether they exclude one another.
- `patterns` says what a regular expression may cost, and `ecma` translates it from JavaScript's dialect.

For backends that choke on what they do not know, `loosening` drops constraints. For providers, `rewriting` keeps the
meaning: `subsets` lists what each provider reads, and `losses` records what could only be described, or not at all.
Its steps are in `references`, `combinations`, `type_unions`, `values` and `aliases`.
"""
