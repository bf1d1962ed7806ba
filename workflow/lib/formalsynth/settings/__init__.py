"""Settings in YAML files: their text, and sentences about what cannot be used."""
