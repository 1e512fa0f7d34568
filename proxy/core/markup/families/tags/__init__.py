"""Families whose calls are tags with a name and keys.

`qwen`, `glm`, `invoke`, `dsml`, `step`, `grok`, `elements`, `solar2`, `minimax_m3`, `mcp`.
"""
