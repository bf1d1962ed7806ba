"""Jobs of the workflow: their start, logs and locks, the process that is forked for each, and the code that they depend on."""
