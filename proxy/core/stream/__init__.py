"""A reply on its way back: bytes in, ordered events out.

    intake → (decoder) → think → (markup) → assembler → collector → (encoder)

Each stage is a class with `feed`, most with `close`, given at birth the next stage's `feed`. Only the assembler makes
promises; `pipeline` strings the stages together.
"""
