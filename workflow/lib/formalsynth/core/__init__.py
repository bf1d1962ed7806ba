"""What every other room builds on: arrays, registers, random streams, bounds, weights, utility and what a job is told."""
