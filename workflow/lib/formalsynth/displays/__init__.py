"""Displays: settings of figures and tables in config, as typed fields that plan and show share. Nothing here draws."""
