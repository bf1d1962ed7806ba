"""What a mechanism, a family or a Stan program of a user's own has to keep to, checked before it is used."""
