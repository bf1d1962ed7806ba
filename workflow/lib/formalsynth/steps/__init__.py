"""The steps up to the collected tables: simulate, fit, measure, study, collect. Each has a rule file and a script."""
