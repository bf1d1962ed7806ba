"""Show: figures and tables. Tidy tables first, drawings of nothing but them, captions from the plan."""
