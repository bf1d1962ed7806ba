"""Model families by the name that config uses."""

from formalsynth.families.base import Array, Draws, Family, Records, take
from formalsynth.families.linear import LinearFamily

FAMILIES: dict[str, Family] = {
    "normal": LinearFamily(log=False),
    "lognormal": LinearFamily(log=True),
    "lognormal_regression": LinearFamily(log=True),
}

__all__ = ["FAMILIES", "Array", "Draws", "Family", "Records", "take"]
