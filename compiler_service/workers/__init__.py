"""Worker processes that fold parts of a snapshot beside the service's own process.

Python runs one thread at a time in a process, so a part of a branch is folded
sooner only where another process does it. Nothing depends on one but time: what
no worker gives back is folded by the compilation itself, to the same bytes.
"""
