"""Access to the machine that the package runs on: files, scratch folders, the user's cache, and the compiler."""
