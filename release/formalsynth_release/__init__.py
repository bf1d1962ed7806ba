"""Steps from a confidential file to a release: declarations, checks, plan, internal report, budget and release."""
