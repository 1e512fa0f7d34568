"""The list of models.

listing               the list in the forms that clients read
codex_instructions    the instructions that its entries give to Codex
"""
