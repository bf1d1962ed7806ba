"""Displays: what config says of figures and tables, as typed fields that plan and show share. Nothing here draws."""
