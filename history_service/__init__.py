"""The history service: what was said, in which order, and what answers what.

``servicer`` decodes and encodes, ``domain`` decides, ``storage`` keeps.
"""
