"""What the compiler keeps of branches between calls: an economy, never a source.

Every compilation asks the history service under its caller's own credentials;
what is kept only spares what the history service says has not changed. The
outcome is the same, byte for byte, as without it.
"""
