"""Families whose calls are tags with a name and keys.

`qwen`, `glm`, `invoke`, `dsml`, `step`, `elements`, `minimax_m3`.
"""
