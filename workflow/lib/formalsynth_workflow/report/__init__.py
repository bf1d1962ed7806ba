"""The report of a run, with its costs and the steadiness of its verdicts."""
