"""Command line ``formalsynth``."""
