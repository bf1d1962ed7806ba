"""The report of a run, what it cost, and the reference run of the repository."""
