"""The steps up to the collected tables: simulate, fit, measure, audit, study and collect."""
