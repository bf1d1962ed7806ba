"""Visible difference of two colours, under normal sight and three kinds of colour blindness.

Tests check the palette with it.
"""

from __future__ import annotations

import functools

import numpy as np

from formalsynth.core.arrays import Array

SIGHTS: dict[str, Array] = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
"""Machado, Oliveira and Fernandes (2009), severity 1: matrices on linear red, green and blue."""
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = TO_XYZ.sum(axis=1)
APART = 10.0
"""Smallest difference CIEDE2000 of two colours that readers can distinguish in one frame."""


def lab(colour: str, sight: str = "normal") -> Array:
    """CIE L*a*b* of a colour ``#rrggbb`` under a kind of sight."""
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SIGHTS[sight] @ linear, 0, 1) / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(first: Array, second: Array) -> float:
    """Difference CIEDE2000 of two colours in L*a*b* (Sharma, Wu and Dalal 2005)."""
    chroma = (np.hypot(*first[1:]) + np.hypot(*second[1:])) / 2
    g = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    (c1, h1), (c2, h2) = (_chroma_and_hue(colour[1] * (1 + g), colour[2]) for colour in (first, second))
    grey = c1 * c2 == 0
    turn = 0 if grey else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if grey else (h1 + turn / 2) % 360
    lightness, c = (first[0] + second[0]) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * np.cos(np.radians(hue - 30))
        + 0.24 * np.cos(np.radians(2 * hue))
        + 0.32 * np.cos(np.radians(3 * hue + 6))
        - 0.20 * np.cos(np.radians(4 * hue - 63))
    )
    dl = (second[0] - first[0]) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * c)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * c * t)
    rotation = -np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2)))) * 2 * np.sqrt(c**7 / (c**7 + 25.0**7))
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh))


def _chroma_and_hue(a: float, b: float) -> tuple[float, float]:
    return float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


@functools.cache
def nearest(first: str, second: str) -> float:
    """Smallest difference of two colours under any kind of sight."""
    return min(ciede2000(lab(first, sight), lab(second, sight)) for sight in SIGHTS)
