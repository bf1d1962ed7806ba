"""Base of the other packages: arrays, registers, random streams, bounds, weights, utility, mechanisms, inputs of jobs."""
