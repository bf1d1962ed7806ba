"""Engine shared by the run and the audit: a chain of synthesizers on one data set."""
