"""Plots on an axis of Matplotlib, which ``pip install formalsynth[plots]`` installs.

They show confidential data: publish none without checking it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from formalsynth.api import Posterior
from formalsynth.core.arrays import Array, Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def violins(values: Mapping[str, ArrayLike | Posterior], axis: Axes | None = None) -> Axes:
    """Draw a violin with its median for each name.

    Args:
        values: mapping from a name to numbers, or to a posterior, whose bounds by record are drawn.
        axis: axis to draw on; by default, that of a new figure.

    Returns:
        The axis.

    Example:
        >>> import formalsynth as fs
        >>> axis = fs.plots.violins({"first": [1, 2, 2, 3], "second": [2, 3, 5, 9]})
        >>> [label.get_text() for label in axis.get_xticklabels()]
        ['first', 'second']
    """
    axis = axis or _new_axis()
    samples = [value.by_record if isinstance(value, Posterior) else np.ravel(value) for value in values.values()]
    axis.violinplot(samples, showmedians=True)
    axis.set_xticks(range(1, len(samples) + 1), list(values))
    if all(isinstance(value, Posterior) for value in values.values()):
        axis.set_ylabel("Lipschitz bound")
    return axis


def distributions(data: Records | ArrayLike, synthetic: Array, axis: Axes | None = None) -> Axes:
    """Draw the distribution functions of the data, and of each synthetic data set.

    Args:
        data: the confidential records.
        synthetic: synthetic data sets (sets, n).
        axis: axis to draw on; by default, that of a new figure.

    Returns:
        The axis.

    Example:
        >>> import numpy as np
        >>> import formalsynth as fs
        >>> len(fs.plots.distributions([1.0, 2.0, 4.0], np.array([[1.0, 3.0, 4.0], [2.0, 2.0, 5.0]])).lines)
        3
    """
    axis = axis or _new_axis()
    for k, values in enumerate(np.atleast_2d(synthetic)):
        axis.ecdf(values, color="0.6", label="" if k else "Synthetic")
    axis.ecdf(data.x if isinstance(data, Records) else np.ravel(data), color="black", linestyle="--", label="Data")
    axis.set_ylabel("Share of records")
    axis.legend()
    return axis


def _new_axis() -> Axes:
    import matplotlib.pyplot as plt

    axis: Axes = plt.subplots()[1]
    return axis
