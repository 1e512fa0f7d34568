"""What every group of settings has in common: wrong types and unknown keys are refused, and docstrings describe."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)
