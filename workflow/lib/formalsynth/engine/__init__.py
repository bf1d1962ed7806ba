"""Engine shared by the run, the audit and the custodian: a chain of synthesizers on one data set."""
