"""Studies of the privacy cost of a record, in addition to the audits."""
