"""A confidential file of a user: what is declared of it, its checks, made-up rows of the same kind."""
