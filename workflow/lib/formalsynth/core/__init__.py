"""Base of every other room: arrays, registers, random streams, bounds, weights, utility and the inputs of jobs."""
