"""An exchange as one file, and the same exchange again: what a client asked, what a backend answered, read by read, and
what became of it.

- `recording` is an exchange as data, `blobs` its bytes in JSON, `lines` its file, `faults` what failed in it.
- `supply` gives out the ids and dates that the exchange was given, `trusting` takes its tokens for what they were,
  `surfaces` and `conditions` are what it was read with.
- `replay` makes the events again, by the same recipe as the engine. `attempt` is one attempt at a reply. `difference`
  says what is not as it was, of events told as an `outline`. `cuts` cuts the bytes otherwise, and `translation` has the
  request come by another surface.
- `keys` takes keys out before anything is written, and `masking` all words, where that is wished. `transcript` makes a
  test of a recording.
"""
