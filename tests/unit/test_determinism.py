"""A short run of the determinism harness, and its proof that it sees a fault.

``ANTIPHON_TEST_SNAPSHOTS`` makes it longer. The Go client takes part where it is built.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE
from tests.bench.echo import write_frames
from tests.polyglot.determinism import (
    GO_CHECKER,
    TARGETS,
    NotDeterministicError,
    check_in_go,
    check_in_python,
    compare,
    snapshots,
)
from tests.support.compiler import compile_inline

SNAPSHOTS = int(os.environ.get("ANTIPHON_TEST_SNAPSHOTS", "60"))
CHECKS = (check_in_python, check_in_go) if GO_CHECKER.exists() else (check_in_python,)


def test_snapshots_have_one_answer_and_one_digest(tmp_path: Path) -> None:
    assert compare(tmp_path, snapshots(SNAPSHOTS, 1), CHECKS) == SNAPSHOTS


@pytest.mark.parametrize(("mutant", "found"), [("unordered", "answers"), ("other_form", "Python")])
def test_the_harness_catches(mutant: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(NotDeterministicError, match=found):
        compare(tmp_path, snapshots(20, 1), CHECKS, mutant)


@pytest.mark.skipif(not GO_CHECKER.exists(), reason="needs `make -C clients/go build`")
def test_go_sees_a_digest_that_is_not_its_answers(tmp_path: Path) -> None:
    answers = [compile_inline(request) for request in snapshots(6, 1)]
    path = tmp_path / "answers"
    write_frames(path, [answer.SerializeToString() for answer in answers])
    assert check_in_go(path) == 6
    answers[2].messages_digest = answers[0].messages_digest
    write_frames(path, [answer.SerializeToString() for answer in answers])
    with pytest.raises(NotDeterministicError, match="Go: digests: response 2: messages_digest"):
        check_in_go(path)


def test_a_digest_that_nobody_checked_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.polyglot.determinism.HASH_SEEDS", ("0",))
    with pytest.raises(NotDeterministicError, match="5 of 6"):
        compare(tmp_path, snapshots(6, 1), (lambda _: 5,))


def test_snapshots_are_the_same_for_a_seed_and_of_every_target() -> None:
    first, same, other = ([each.SerializeToString() for each in snapshots(40, seed)] for seed in (1, 1, 2))
    assert first == same != other
    native = [request for request in snapshots(40, 1) if request.profile == PROFILE_NATIVE]
    assert {request.target for request in native} == {each.get("target", "") for each in TARGETS}
    assert len(native) == 27
