"""From a confidential file to a release: declarations, checks, candidates, the internal report, the budget, and the release."""
