"""Tokens and their file: what is read, what is refused, and what is never told."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from antiphon_client.edge.access import Role
from antiphon_client.edge.gate import Gate
from antiphon_client.edge.tokens import Grants, Scope, TokenFile, new_token, read_grants
from antiphon_client.errors import CredentialsMissingError
from antiphon_client.files import UnusableFileError
from tests.support.tokens import TokensFile, bearer
from tests.unit.test_access_rules import rules

GET = "/antiphon.history.v1.HistoryService/GetBranch"
OWNER = 'tenant = "acme"\nrole = "owner"\n'
GUEST = 'tenant = "acme"\nrole = "guest"\n'
HASH = f'sha256 = "{"a" * 64}"\n'


def test_tokens_are_long_and_random_and_name_their_entry() -> None:
    tokens = [new_token() for _ in range(50)]
    assert len({token.text for token in tokens}) == 50
    for token in tokens:
        prefix, token_id, secret = token.text.split("_", 2)
        assert (prefix, token_id) == ("antiphon", token.token_id)
        assert len(secret) == 43  # 32 bytes of base64


def test_entries_are_read(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    owner = file.add("acme", admin=True, expires="2030-01-01T00:00:00Z")
    guest = file.add("acme", "guest", branches=["b"], external_keys=["k/"], rpcs=["GetBranch"])
    file.anonymous("public", external_keys=["docs/"])
    grants = read_grants(file.path)
    read = grants.of(owner.text)
    assert read is not None
    assert (read.tenant_id, read.role, read.is_admin) == ("acme", Role.OWNER, True)
    assert read.expires == datetime(2030, 1, 1, tzinfo=UTC)
    assert not read.scope.is_narrow
    read = grants.of(guest.text)
    assert read is not None
    assert (read.role, read.scope) == (Role.GUEST, Scope(frozenset("b"), ("k/",), frozenset({"GetBranch"})))
    assert grants.anonymous is not None
    assert (grants.anonymous.tenant_id, grants.anonymous.role) == ("public", Role.ANONYMOUS)


def test_only_the_whole_token_opens(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    token, other = file.add("acme"), file.add("globex")
    grants = read_grants(file.path)
    assert grants.of(token.text) is not None
    text = token.text
    mixed = f"antiphon_{other.token_id}_{text.split('_', 2)[2]}"
    for wrong in (text[:-1], text + "a", text + "\n", text.upper(), token.token_id, "", token.digest, mixed):
        assert grants.of(wrong) is None
    for end in range(len(text)):
        assert grants.of(text[:end]) is None
    assert Grants({}).of(text) is None
    # An entry that was not found is compared with a digest that nothing has.
    assert Grants({}).of("\0") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[token.a]\n" + OWNER, "token.a.sha256: Field required"),
        ("[token.a]\n" + OWNER + 'sha256 = "antiphon_a_hush"\n', "token.a.sha256: String should match"),
        ('[token.a]\nrole = "owner"\n' + HASH, "token.a.tenant: Field required"),
        ('[token.a]\ntenant = "-a"\nrole = "owner"\n' + HASH, "token.a.tenant: String should match"),
        ('[token.a]\ntenant = "a\\n"\nrole = "owner"\n' + HASH, "token.a.tenant: String should match"),
        ('[token.a]\ntenant = "a"\nrole = "anonymous"\n' + HASH, "token.a.role: Input should be"),
        ("[token.a]\n" + OWNER + HASH + 'token = "hush"\n', "token.a.token: Extra inputs"),
        (
            "[token.a]\n" + OWNER + HASH + 'rpcs = ["GetBranch"]\n',
            "token.a: branches, external_keys and rpcs",
        ),
        ("[token.a]\n" + GUEST + HASH + "admin = true\n", "token.a: a guest is no admin"),
        (
            "[token.a]\n" + GUEST + HASH + 'rpcs = ["AddMessages"]\n',
            "token.a.rpcs: each must be the name of an",
        ),
        ("[token.a]\n" + GUEST + HASH + 'external_keys = [""]\n', "token.a.external_keys.0: "),
        ("[token.a]\n" + OWNER + HASH + "expires = 2030-01-01T00:00:00\n", "token.a.expires: "),
        ('[token."a_b"]\n' + OWNER + HASH, "token: an id is letters"),
        ("[anonymous]\n", "anonymous.tenant: Field required"),
        ("[else]\n", "else: Extra inputs"),
        ("[token.a]\nhush hush\n", "not TOML: line 2, column 6"),
        ("[token.a]\n" + OWNER + HASH + "[token.a]\n" + OWNER + HASH, "not TOML: line 5, column"),
        ("\udcff", "not TOML: not UTF-8"),
    ],
)
def test_wrong_files_are_refused_without_being_quoted(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tokens.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UnusableFileError) as caught:
        read_grants(path)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "hush" not in str(caught.value)
    assert "a" * 64 not in str(caught.value)


def test_missing_and_open_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFileError, match="No such file"):
        read_grants(tmp_path / "none.toml")
    file = TokensFile(tmp_path)
    file.path.chmod(0o606)
    with pytest.raises(UnusableFileError, match="everybody may write it"):
        read_grants(file.path)


def test_a_changed_file_holds_from_the_next_call_on(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    first = file.add("acme")
    gate = Gate(rules(), TokenFile(file.path))
    grant = gate.admit(GET, bearer(first))
    gate.check_still(grant)
    second = file.add("acme")
    assert gate.admit(GET, bearer(second)).tenant_id == "acme"
    file.remove(first)
    for act in (lambda: gate.admit(GET, bearer(first)), lambda: gate.check_still(grant)):
        with pytest.raises(CredentialsMissingError, match="unknown or has expired"):
            act()


def test_a_file_that_breaks_or_goes_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = TokensFile(tmp_path)
    token = file.add("acme")
    gate = Gate(rules(), TokenFile(file.path))
    file.path.write_text("hush hush")
    assert gate.admit(GET, bearer(token)).tenant_id == "acme"
    assert "tokens_unusable" in caplog.text
    assert "hush" not in caplog.text
    os.unlink(file.path)
    assert gate.admit(GET, bearer(token)).tenant_id == "acme"


def test_tokens_expire_to_the_moment(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    token = file.add("acme", expires="2030-01-01T00:00:00Z")
    end = datetime(2030, 1, 1, tzinfo=UTC)
    times = [end - timedelta(microseconds=1), end, end]
    gate = Gate(rules(), TokenFile(file.path), clock=lambda: times.pop(0))
    grant = gate.admit(GET, bearer(token))
    with pytest.raises(CredentialsMissingError):
        gate.admit(GET, bearer(token))
    with pytest.raises(CredentialsMissingError):
        gate.check_still(grant)


@pytest.mark.parametrize(
    "metadata",
    [
        [("authorization", "Basic {}")],
        [("authorization", "{}")],
        [("authorization", "Bearer")],
        [("authorization", "Bearer {}"), ("authorization", "Bearer {}")],
        [("x-authorization", "Bearer {}")],
    ],
)
def test_other_authorizations_are_none(tmp_path: Path, metadata: list[tuple[str, str]]) -> None:
    file = TokensFile(tmp_path)
    token = file.add("acme")
    gate = Gate(rules(), TokenFile(file.path))
    assert gate.admit(GET, [("authorization", f"bearer {token.text}")]).tenant_id == "acme"
    with pytest.raises(CredentialsMissingError) as caught:
        gate.admit(GET, [(key, value.format(token.text)) for key, value in metadata])
    assert token.text not in str(caught.value)


def test_a_wrong_token_is_no_anonymous_call(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    token = file.add("acme")
    file.anonymous("public")
    gate = Gate(rules(), TokenFile(file.path))
    assert gate.admit(GET, ()).tenant_id == "public"
    file.remove(token)
    with pytest.raises(CredentialsMissingError):
        gate.admit(GET, bearer(token))


def test_a_grant_is_shown_without_its_digest(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    token = file.add("acme")
    grant = read_grants(file.path).of(token.text)
    assert grant is not None
    assert grant.digest.hex() == token.digest
    assert repr(grant.digest) not in repr(grant)
