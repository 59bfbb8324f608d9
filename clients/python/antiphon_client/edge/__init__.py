"""The server side that both services share.

``interceptor`` stands between the wire and the servicers, ``lifecycle`` starts
and stops a server, ``process`` runs one as a program; the other modules are
their parts. A servicer needs only ``call.current_call``.
"""
