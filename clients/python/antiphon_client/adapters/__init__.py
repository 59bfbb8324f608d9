"""Conversations of other frameworks, kept in branches.

Each module is one framework's own interface over a history client of the SDK,
and needs the extra of its name:

=================  ==============================================  =================
module             class                                           extra
=================  ==============================================  =================
``openai_agents``  ``AntiphonSession``, a ``Session``              ``openai-agents``
``langchain``      ``AntiphonChatMessageHistory``                  ``langchain``
``pydantic_ai``    ``AntiphonMessageHistory``                      ``pydantic-ai``
``google_adk``     ``AntiphonSessionService``                      ``google-adk``
=================  ==============================================  =================

What they share: a session is the branch with an external key made of the
framework's name and the session's id; it is made on the first write, by
whichever process is first. What the framework appends becomes records of the
usual kinds, so that the compiler and every other client can read the branch,
and what a record has no field for stands in its metadata (see
:mod:`antiphon_client.adapters.units`). Appending reads no earlier record but
calls that wait for an answer, and replaces none: several processes may write
one session. ``docs/adapters.md`` says what each framework cannot carry.
"""
