"""Show: tidy tables of figures and tables, drawings of these tables, and captions from the plan."""
