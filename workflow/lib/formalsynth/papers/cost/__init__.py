"""Studies of what a record costs, beyond the audits."""
