"""Malformed and odd requests against the real services, by the thousand.

``python -m tests.fuzz --count 20000`` runs the full figure for both services;
the tests here run a quick share of it (``ANTIPHON_FUZZ_BODIES`` bodies a service).
"""
