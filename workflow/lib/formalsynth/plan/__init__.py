"""The plan of a run: config and papers, read and checked, with every fan-out spelled out. The one room that knows all others."""
