"""Posterior draws that alone can set the maximum of a convex function: the corners of their convex hull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Draws, take
from formalsynth.core.family import ConcaveFamily

LARGEST_DIMENSION = 4
"""With more parameters most draws are corners."""
LARGEST_SHARE = 1 / 8
"""Of the draws that may be corners; with more of them the others save too little."""
REACHES = (1.0, 0.5, 0.25, 0.125)
"""How far corners are mirrored, as a share of their distance from the centre: the first at which there are such parameters."""


@dataclass(frozen=True)
class Hull:
    """The convex hull of the draws, in the parameters in which the log-likelihood is concave."""

    corners: NDArray[np.intp]
    """(k,) which draws are its corners."""
    at_corners: Draws
    """The k draws."""
    mirrored: Draws
    """k + 1 points: the centre, then each corner mirrored at the centre."""
    reach: float
    """Distance of the mirrored corners from the centre, as a share of that of the corners."""


def hull_of(family: ConcaveFamily, draws: Draws) -> Hull | None:
    """Convex hull of the draws; None where there is none to be found, or where it has too many corners to be of use."""
    from scipy.spatial import ConvexHull, QhullError

    natural = family.natural(draws)
    if natural.shape[1] > LARGEST_DIMENSION or not np.isfinite(natural).all():
        return None
    centre = natural.mean(axis=0)
    try:
        if natural.shape[1] == 1:
            corners = np.unique([natural.argmin(), natural.argmax()])
        else:
            # The draws on axes of equal spread; Qc adds those within rounding of a face, which may be corners.
            found = ConvexHull(np.linalg.svd(natural - centre, full_matrices=False)[0], qhull_options="Qt Qc")
            corners = np.union1d(found.vertices, found.coplanar[:, 0]).astype(np.intp)
    except (QhullError, np.linalg.LinAlgError, ValueError):
        return None
    if len(corners) > LARGEST_SHARE * len(natural):
        return None
    for reach in REACHES:
        points = np.vstack([centre, centre - reach * (natural[corners] - centre)])
        with np.errstate(all="ignore"):
            mirrored = family.of_natural(points)
        if all(np.isfinite(values).all() for values in mirrored.values()):
            return Hull(corners, take(draws, corners), mirrored, reach)
    return None
