"""What every group of settings has in common: wrong types and unknown keys are refused."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
