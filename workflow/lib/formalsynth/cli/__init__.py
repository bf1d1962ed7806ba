"""The command line ``formalsynth``."""
