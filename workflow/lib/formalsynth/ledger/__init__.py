"""The ledger: what the papers claim, and what a run says of it."""
