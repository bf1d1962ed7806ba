"""Posterior draws at which a convex function can have its maximum: the corners of their convex hull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Draws, take
from formalsynth.core.family import ConcaveFamily

LARGEST_DIMENSION = 4
"""Largest number of parameters; with more, most draws are corners."""
LARGEST_SHARE = 1 / 8
"""Largest share of draws that may be corners; with a larger share, too little time is saved."""
REACHES = (1.0, 0.5, 0.25, 0.125)
"""Distances of mirrored corners to try, in turn, as shares of the corner's distance from the centre."""


@dataclass(frozen=True)
class Hull:
    """Convex hull of the draws, in the parameters in which the log-likelihood is concave."""

    corners: NDArray[np.intp]
    """(k,) indices of the draws at its corners."""
    at_corners: Draws
    """Draws at the k corners."""
    mirrored: Draws
    """k + 1 points: the centre, then each corner mirrored at the centre."""
    reach: float
    """Distance of the mirrored corners from the centre, as a share of the distance of the corners."""


def hull_of(family: ConcaveFamily, draws: Draws) -> Hull | None:
    """Compute the convex hull of the draws; None if that fails or gives too many corners to be useful."""
    from scipy.spatial import ConvexHull, QhullError

    natural = family.natural(draws)
    if natural.shape[1] > LARGEST_DIMENSION or not np.isfinite(natural).all():
        return None
    centre = natural.mean(axis=0)
    try:
        if natural.shape[1] == 1:
            corners = np.unique([natural.argmin(), natural.argmax()])
        else:
            # Scale the draws to axes of equal spread; Qc adds points within rounding of a face, which may be corners.
            hull = ConvexHull(np.linalg.svd(natural - centre, full_matrices=False)[0], qhull_options="Qt Qc")
            corners = np.union1d(hull.vertices, hull.coplanar[:, 0]).astype(np.intp)
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
