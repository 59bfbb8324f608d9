"""Who calls, and whether they may: the tenant of a call comes from here and from nowhere else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import TypeAlias

from google.protobuf.message import Message

from antiphon_client.credentials import AUTHORIZATION
from antiphon_client.edge.access import RIGHTS, Need, Reach, Role, Rule, Rules
from antiphon_client.edge.tokens import Grant, Scope, TokenFile
from antiphon_client.errors import BranchNotFoundError, CredentialsMissingError, RoleNotAllowedError
from antiphon_client.ids import is_canonical_uuid

_SCHEME = "bearer "

ExternalKeys: TypeAlias = Callable[[str, str], Awaitable[str | None]]
"""Returns the external key of a tenant's living branch by its id; None where it has none, or is none."""

EVERYBODY = Grant("", "", Role.OWNER, is_admin=True)
"""What every call may do while no tokens are configured: everything, in the one tenant without a name."""

_NOBODY = Grant("", "", Role.ANONYMOUS)


class Gate:
    """Lets calls in by their tokens."""

    def __init__(
        self,
        rules: Rules,
        tokens: TokenFile | None,
        external_keys: ExternalKeys | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Set up the gate.

        Args:
            rules: What each RPC takes.
            tokens: Whose tokens are known; None: nobody needs one.
            external_keys: Looks up branches; None where the server has none.
            clock: Returns the time, by which tokens expire.
        """
        self._rules = rules
        self._tokens = tokens
        self._external_keys = external_keys
        self._clock = clock

    def admit(self, path: str, metadata: Iterable[tuple[str, str | bytes]]) -> Grant:
        """Return what the caller of a method may do, once that covers the method.

        Raises:
            CredentialsMissingError: There is no token, several, or one that is
                unknown or expired.
            RoleNotAllowedError: The caller's role or its scope does not cover it.
        """
        if self._tokens is None:
            return EVERYBODY
        rule = self._rules.of(path)
        # A method that nobody has thought about is an admin's.
        need = Need.ADMIN if rule is None else rule.need
        if need is Need.NOTHING:
            return _NOBODY
        grant = self._grant(metadata)
        if need not in RIGHTS[grant.role] and not (need is Need.ADMIN and grant.is_admin):
            raise RoleNotAllowedError.of(grant.role, need)
        rpcs = grant.scope.rpcs
        if rpcs is not None and path.rpartition("/")[2] not in rpcs:
            raise RoleNotAllowedError.of(grant.role, "scope")
        return grant

    def _grant(self, metadata: Iterable[tuple[str, str | bytes]]) -> Grant:
        assert self._tokens is not None
        grants = self._tokens.grants()
        given = [value for key, value in metadata if key == AUTHORIZATION]
        if not given:
            if grants.anonymous is None:
                raise CredentialsMissingError("the call carries no token: send authorization: Bearer TOKEN")
            return grants.anonymous
        value = given[0]
        if len(given) > 1 or not isinstance(value, str) or not value.lower().startswith(_SCHEME):
            raise CredentialsMissingError("the call's authorization is not one bearer token")
        grant = grants.of(value[len(_SCHEME) :].strip())
        if grant is None or self._has_expired(grant):
            raise _no_longer()
        return grant

    def _has_expired(self, grant: Grant) -> bool:
        return grant.expires is not None and self._clock() >= grant.expires

    def check_still(self, grant: Grant) -> None:
        """Check that a caller would be let in again: what stands for hours asks now and then.

        Raises:
            CredentialsMissingError: Its token was taken away or changed, or has expired.
        """
        if self._tokens is None:
            return
        grants = self._tokens.grants()
        now = grants.by_id.get(grant.token_id) if grant.token_id else grants.anonymous
        if now != grant or self._has_expired(grant):
            raise _no_longer()

    async def check_scope(self, path: str, grant: Grant, request: Message) -> None:
        """Hold a request against a guest's scope.

        A branch outside of it is answered as a missing one, so that ids cannot be tried.

        Raises:
            BranchNotFoundError: The branch is outside of it, or there is none.
            RoleNotAllowedError: What else the call would show is.
        """
        rule = self._rules.of(path)
        if rule is None or rule.reach is Reach.NONE or not grant.scope.is_narrow:
            return
        if not await self._covers(grant, rule, request):
            if rule.reach is Reach.BRANCH:
                raise BranchNotFoundError.of(request.branch_id)  # type: ignore[attr-defined]
            raise RoleNotAllowedError.of(grant.role, "scope")

    async def _covers(self, grant: Grant, rule: Rule, request: Message) -> bool:
        match rule.reach:
            case Reach.BRANCH:
                branch_id: str = request.branch_id  # type: ignore[attr-defined]
                return await self._covers_branch(grant.tenant_id, grant.scope, branch_id)
            case Reach.LISTING:
                prefix: str = request.external_key_prefix  # type: ignore[attr-defined]
                return prefix.startswith(grant.scope.external_keys)
        return False

    async def _covers_branch(self, tenant_id: str, scope: Scope, branch_id: str) -> bool:
        # What is no id names no branch: the servicer says so, to everybody.
        if branch_id in scope.branches or not is_canonical_uuid(branch_id):
            return True
        if not scope.external_keys or self._external_keys is None:
            return False
        external_key = await self._external_keys(tenant_id, branch_id)
        return external_key is not None and external_key.startswith(scope.external_keys)


def _no_longer() -> CredentialsMissingError:
    return CredentialsMissingError("the call's token is unknown or has expired")
