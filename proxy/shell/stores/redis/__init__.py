"""The engine in a server of Redis or Valkey, for what may vanish: `Live`, and never `Records`.

- `server`: one server; a limit on every wait, and which of its errors is a store that is down
- `names`: the keys
- `script`: what is done in one step by the server; `log_scripts`, `memo_scripts`, `limit_scripts`: all of them
- `logs`, `limits`: what they are asked, and what their answers mean
- `live`: all of `Live`
"""
