"""The five steps, in one direction: simulate, fit, measure, collect, show. Each is one rule file and one script."""
