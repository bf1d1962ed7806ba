"""Show: tidy tables for figures and tables, drawings of these tables, and captions from the plan."""
