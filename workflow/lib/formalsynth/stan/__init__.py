"""CmdStan: find or install it, compile programs, sample pseudo posteriors."""
