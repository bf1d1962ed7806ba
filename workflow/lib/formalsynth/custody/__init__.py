"""The custodian's side up to the choice: a file and what is declared of it, checks, made-up rows, candidates, the budget."""
