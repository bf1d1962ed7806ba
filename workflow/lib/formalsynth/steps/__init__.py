"""The steps up to the collected tables: simulate, fit and measure, which run calls for a batch; study; collect."""
