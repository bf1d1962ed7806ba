"""Fields of the kinds of figures, one file each."""
