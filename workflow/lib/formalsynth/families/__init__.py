"""Model families: each file registers a family under its names in config."""
