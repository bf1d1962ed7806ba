"""Steps from a confidential file to a release: declarations, checks, candidates, internal report, budget and release."""
