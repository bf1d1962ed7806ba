"""The plan of a run: config and papers, read, checked and fully spelled out. The only package that imports all others."""
