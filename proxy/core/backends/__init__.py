"""Which backends there are, and where; how they speak is the matter of `dialects`.

- `profiles` has a row for each known backend, `model_rules` one for each quirk that a model brings along, and `efforts`
  the words for reasoning effort that both use.
- `recognise` tells which profile a backend has, `listing` what its list of models says, `learned` what its refusals and
  replies taught, `kept_lessons` what the next process may know of it.
- `target` is where a backend is, `wires` in which of OpenAI's two languages it is asked, `routes` which backend answers
  for a model, `post` one HTTP request to it, `counter` its own counter of tokens.
"""
