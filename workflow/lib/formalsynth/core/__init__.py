"""Base of the other rooms: arrays, registers, random streams, bounds, weights, utility, results of mechanisms, inputs of jobs."""
