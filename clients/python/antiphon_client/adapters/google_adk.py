"""A session service of the Google ADK that keeps sessions in branches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.extras import missing_extra
from antiphon_client.adapters.google_adk_state import metadata_of, read_state, state_in, update_state
from antiphon_client.adapters.session_branch import SessionBranch
from antiphon_client.adapters.session_branches import branches_of
from antiphon_client.adapters.unit_reading import is_head, read_units
from antiphon_client.history import AsyncHistoryClient
from antiphon_client.ids import new_id
from antiphon_client.records import BranchRecord

try:
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events import Event
    from google.adk.sessions import BaseSessionService, Session, State
    from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse
    from pydantic_core import to_jsonable_python

    from antiphon_client.adapters.google_adk_events import (
        METADATA_KEY,
        dict_of,
        events_of,
        records_of,
        state_deltas,
    )
except ImportError as error:
    raise missing_extra("google-adk", error) from error

KEY_PREFIX: Final = "google-adk:"
"""What the external keys of sessions begin with; app, user and session follow, percent-encoded."""

STATE_KEY_PREFIX: Final = "google-adk-state:"
"""What the external keys of the states of apps and users begin with."""

_CREATED: Final = "created"
_LAST: Final = GetSessionConfig(num_recent_events=1)


class _Key(NamedTuple):
    app_name: str
    user_id: str
    session_id: str

    @property
    def text(self) -> str:
        return KEY_PREFIX + "/".join(quote(part, safe="") for part in self)


class AntiphonSessionService(BaseSessionService):
    """Sessions for ``Runner(session_service=...)``.

    How events become records says :mod:`~antiphon_client.adapters.google_adk_events`.
    A session's state is its first state and, in order, the changes that its
    events brought, which are stored in the same write as the event. The state of
    an app or of a user is the metadata of a branch of its own, written after the
    event: a process that dies between the two leaves it as it was; appending
    the same event again is harmless to the session and repeats that write.

    Not carried: what the framework does not write as JSON: NaN and infinities
    become null; a lone surrogate, which raises JsonTextError with nothing stored; an
    event over the service's limit of 3 MiB (SizeLimitExceededError). StaleSessionError is never
    raised: events of several writers of one session are all kept, in the order
    in which they came, and each writer's session object shows its own until it is
    read again.

    Args:
        history: The client; it stays the caller's to close.

    Every method may raise the errors of the client. Names together have at most
    about 500 bytes, percent-encoded.
    """

    def __init__(self, history: AsyncHistoryClient) -> None:
        self._history = history
        self._run = history._transport.run
        self._branches = branches_of(history)

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Make a session.

        Raises:
            AlreadyExistsError: There is one with this id.
        """
        key = _Key(app_name, user_id, (session_id or "").strip() or new_id())
        of_app, of_user, of_session = _split(to_jsonable_python(state or {}, inf_nan_mode="null"))
        metadata = metadata_of(METADATA_KEY, of_session)
        metadata[METADATA_KEY][_CREATED] = created = time.time()
        if not await self._run(self._branch(key).make(metadata)):
            raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
        await self._update_shared(key, of_app, of_user)
        return self._session(key, of_session, await self._shared(app_name, user_id), [], created)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session; None where there is none. Cost: that of the events asked for and the states."""
        key = _Key(app_name, user_id, session_id.strip())
        branch, shared = self._branch(key), self._shared(app_name, user_id)
        if config is None or config.num_recent_events is config.after_timestamp is None:
            return await self._whole(key, branch, shared)
        record, of_app_and_user, events, last, changes = await asyncio.gather(
            self._run(branch.record()),
            shared,
            self._latest(branch, config),
            self._latest(branch, _LAST),
            self._changes(branch),
        )
        if record is None:
            return None
        state = state_in(record.metadata, METADATA_KEY) | changes
        return self._session(key, state, of_app_and_user, events, _updated(record, last))

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of a user, without events, the latest one last.

        Cost: three calls a session, and its changes of the state.
        """
        names = (app_name,) if user_id is None else (app_name, user_id)
        prefix = KEY_PREFIX + "".join(quote(name, safe="") + "/" for name in names)
        sessions = [
            await self._listed(record) async for record in self._history.branches(external_key_prefix=prefix)
        ]
        sessions.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session; where there is none, do nothing. The states of app and user stay."""
        await self._run(self._branch(_Key(app_name, user_id, session_id.strip())).delete())

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state of a user, its keys without their prefix."""
        return await self._run(read_state(_state_key(app_name, user_id), METADATA_KEY))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and what it changes of the states, and add it to the session object.

        A partial event is neither stored nor added.

        Raises:
            SessionNotFoundError: The session was deleted.
        """
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        key = _Key(session.app_name, session.user_id, session.id)
        records = records_of(event)
        if not await self._run(self._branch(key).append_if_there([records])):
            raise SessionNotFoundError(f"Session {session.id} not found.")
        for delta in state_deltas(records):
            of_app, of_user, _ = _split(delta)
            await self._update_shared(key, of_app, of_user)
        session.last_update_time = event.timestamp
        return self._commit_event_to_session(session, event)

    def _branch(self, key: _Key) -> SessionBranch:
        return self._branches.branch(key.text)

    async def _whole(
        self, key: _Key, branch: SessionBranch, shared: Awaitable[dict[str, Any]]
    ) -> Session | None:
        whole, of_app_and_user = await asyncio.gather(self._run(branch.whole()), shared)
        if whole is None:
            return None
        record, records = whole
        events = events_of(branch.text(records, METADATA_KEY, dict_of))
        state = state_in(record.metadata, METADATA_KEY)
        if record.view_count is None:
            for delta in filter(None, (event.actions.state_delta for event in events)):
                state.update(_split(delta).session)
        else:  # events that are not in the view have changed the state too
            state.update(await self._changes(branch))
        return self._session(key, state, of_app_and_user, events, _updated(record, events[-1:]))

    async def _latest(self, branch: SessionBranch, config: GetSessionConfig) -> list[Event]:
        wanted, after = config.num_recent_events, config.after_timestamp
        if wanted == 0:
            return []

        def is_enough(records: Iterable[pb.Message]) -> bool:
            heads = [record for record in records if is_head(record, METADATA_KEY)]
            if wanted is not None and len(heads) >= wanted:
                return True
            return after is not None and bool(heads) and _events_before(list(records)[::-1], after)

        size = 1000 if wanted is None else min(1000, 4 * wanted)
        events = _events(await self._run(branch.latest(is_enough, size)))
        kept = events if wanted is None else events[-wanted:]
        return kept if after is None else _since(kept, after)

    async def _changes(self, branch: SessionBranch) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for delta in state_deltas(await self._run(branch.of_kind(history_pb.MESSAGE_KIND_GENERIC))):
            changes.update(_split(delta).session)
        return changes

    async def _listed(self, record: BranchRecord) -> Session:
        names = (record.external_key or "").removeprefix(KEY_PREFIX).split("/")
        key = _Key(*map(unquote, names))
        branch = self._branch(key)
        changes, last, shared = await asyncio.gather(
            self._changes(branch),
            self._latest(branch, _LAST),
            self._shared(key.app_name, key.user_id),
        )
        state = {**state_in(record.metadata, METADATA_KEY), **changes}
        return self._session(key, state, shared, [], _updated(record, last))

    async def _shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the states of an app and a user, their keys with prefixes."""
        of_app, of_user = await asyncio.gather(
            self._run(read_state(_state_key(app_name), METADATA_KEY)),
            self._run(read_state(_state_key(app_name, user_id), METADATA_KEY)),
        )
        prefixed = {State.APP_PREFIX + name: value for name, value in of_app.items()}
        return prefixed | {State.USER_PREFIX + name: value for name, value in of_user.items()}

    async def _update_shared(self, key: _Key, of_app: dict[str, Any], of_user: dict[str, Any]) -> None:
        await self._run(update_state(_state_key(key.app_name), METADATA_KEY, of_app))
        await self._run(update_state(_state_key(key.app_name, key.user_id), METADATA_KEY, of_user))

    def _session(
        self, key: _Key, state: dict[str, Any], shared: dict[str, Any], events: list[Event], updated: float
    ) -> Session:
        return Session(
            id=key.session_id,
            app_name=key.app_name,
            user_id=key.user_id,
            state=state | shared,
            events=events,
            last_update_time=updated,
        )


class _Split(NamedTuple):
    app: dict[str, Any]
    user: dict[str, Any]
    session: dict[str, Any]


def _split(state: Mapping[str, Any]) -> _Split:
    """Return the parts of a state by whose they are, without the prefixes; temporary keys are nobody's."""
    split = _Split({}, {}, {})
    for key, value in state.items():
        if key.startswith(State.APP_PREFIX):
            split.app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            split.user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(State.TEMP_PREFIX):
            split.session[key] = value
    return split


def _state_key(*names: str) -> str:
    return STATE_KEY_PREFIX + "/".join(quote(name, safe="") for name in names)


def _events(records: list[pb.Message]) -> list[Event]:
    # A part whose first record is on a page not read belongs to no event that was asked for.
    while records and not is_head(records[0], METADATA_KEY):
        records = records[1:]
    return events_of(read_units(records, METADATA_KEY, dict_of).text())


def _since(events: list[Event], after: float) -> list[Event]:
    """Return the events behind the last one that is older than a time."""
    older = [index for index, event in enumerate(events) if event.timestamp < after]
    return events[older[-1] + 1 :] if older else events


def _events_before(records: list[pb.Message], after: float) -> bool:
    return any(event.timestamp < after for event in _events(records))


def _updated(record: BranchRecord, last: list[Event]) -> float:
    if last:
        return last[-1].timestamp
    entry = record.metadata.get(METADATA_KEY)
    created = entry.get(_CREATED) if isinstance(entry, dict) else None
    return created if isinstance(created, float) else record.created_at
