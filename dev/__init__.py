"""Commands for maintainers, run from the folder of the repository: comparisons of runs, the reference run, checks of texts."""
