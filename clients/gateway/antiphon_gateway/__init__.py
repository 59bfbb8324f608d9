"""An OpenAI-compatible HTTP endpoint that keeps each conversation in Antiphon.

An example to copy from: a sidecar between an application that speaks OpenAI's
Chat Completions and a model provider. ``app`` has the routes, ``conversation``
what is kept, ``turn`` the way of one turn, ``upstream`` the provider.
"""
