"""Weight maps: each file registers its own (REPS paper, Section 5.2)."""
