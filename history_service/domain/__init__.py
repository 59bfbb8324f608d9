"""The rules of history, as pure functions over a store's transaction.

They know nothing of gRPC or SQL: they take decoded requests and the primitives
of ``history_service.storage.port``, and return response messages.
"""
