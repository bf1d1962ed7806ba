"""What a mechanism costs the people in the data: its privacy loss between neighbours, measured and not claimed."""
