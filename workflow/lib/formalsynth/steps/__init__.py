"""The steps up to the collected tables: simulate, fit and measure, which run executes for a batch; study; collect."""
