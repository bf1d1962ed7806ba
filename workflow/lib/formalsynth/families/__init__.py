"""Model families: each file registers its own under the names that config uses."""
