"""Release: synthetic data of one chosen synthesizer with fresh noise, the folder around them, and the gate in front of it."""
