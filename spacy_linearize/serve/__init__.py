"""A local server: the playground for people, and JSON for programs."""
