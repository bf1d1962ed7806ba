"""Fields of the kinds of tables, one file each."""
