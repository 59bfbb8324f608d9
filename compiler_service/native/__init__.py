"""NATIVE: real tool turns, signed reasoning and cache marks, in provider-neutral terms."""
