"""The security checks: what they let pass, and that they say what they did not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripts import security
from scripts.security import Finding, below_fixes, is_composed_at_import, unpinned

MODULE = '''A = "t"
QUERY = (
    f"SELECT x FROM {A}"
)

def query(table):
    """Compose."""
    return f"SELECT x FROM {table}"
'''


def test_sql_composed_at_import_passes_and_sql_composed_in_a_function_does_not(tmp_path: Path) -> None:
    path = tmp_path / "sql.py"
    path.write_text(MODULE)
    assert is_composed_at_import(Finding(str(path), 3, "B608", ""))
    assert not is_composed_at_import(Finding(str(path), 8, "B608", ""))
    assert not is_composed_at_import(Finding(str(path), 3, "B105", ""))


def test_bandit_is_run_over_the_code_and_a_finding_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(security, "ROOT", tmp_path)
    monkeypatch.setattr(security, "CODE", ("package",))
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "sql.py").write_text(MODULE)
    assert security.check_code() == 1
    assert "package/sql.py:8: B608" in capsys.readouterr().out
    (tmp_path / "package" / "sql.py").write_text(MODULE.replace('{table}"', '{table}"  # nosec B608: shown'))
    assert security.check_code() == 0
    assert "0 findings; 1 statements composed before any request" in capsys.readouterr().out
    (tmp_path / "package" / "broken.py").write_text("def")
    assert security.check_code() == 1


def test_what_is_not_pinned_is_told() -> None:
    assert not list(unpinned(["a==1", "b-c==1.2.3+local", 'd==1 ; python_version < "4"']))
    assert len(list(unpinned(["a", "a>=1", "a==1.*", "a @ https://example.org/a.whl", "a~=1.0"]))) == 5


def test_versions_below_a_known_fix_are_told() -> None:
    assert not list(below_fixes(["PyYAML==6.0.1", "orjson>=3.10", "unheard-of==0.1", "requests"]))
    told = list(below_fixes(["PyYAML==5.3.1", "orjson>=3.9,<4", "protobuf>=5,>=6.0"]))
    assert [text.split(":")[0] for text in told] == ["PyYAML==5.3.1", "orjson>=3.9,<4", "protobuf>=5,>=6.0"]
    assert "CVE-2020-14343 is repaired in 5.4" in told[0]


def answering(answers: dict[str, Any]) -> Any:
    """Return what stands for pip-audit: it answers by the package's name."""

    def ask(locked: list[str]) -> list[dict[str, Any]]:
        return [{"name": name, **answers[name]} for name in (line.split("==")[0] for line in locked)]

    return ask


LOCKED = ["grpcio==1.85.3", "other==1"]
CLEAN = {"version": "1", "vulns": []}


@pytest.mark.parametrize(
    ("answers", "required", "code", "said"),
    [
        ({"grpcio": CLEAN, "other": CLEAN}, False, 0, "2 versions compared, 0 have known flaws"),
        ({"grpcio": {"skip_reason": "not found"}}, False, 0, "NOTHING was compared"),
        ({"grpcio": {"skip_reason": "not found"}}, True, 1, "NOTHING was compared"),
        (
            {"grpcio": CLEAN, "other": {"version": "1", "vulns": [{"id": "PYSEC-1"}]}},
            False,
            1,
            "other==1: PYSEC-1",
        ),
    ],
)
def test_an_audit_says_whether_anything_was_compared(
    answers: dict[str, Any],
    required: bool,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(security, "ask_advisories", answering(answers))
    assert security.audit(LOCKED, required=required) == code
    assert said in capsys.readouterr().out


def test_no_answer_at_all_is_nothing_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(security, "ask_advisories", lambda _locked: [])
    assert security.audit(LOCKED, required=False) == 0
    assert "NOTHING was compared" in capsys.readouterr().out


def test_the_projects_own_lock_and_bounds_are_sound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(security, "ask_advisories", lambda _locked: [])
    assert security.check_dependencies(required=False) == 0, capsys.readouterr().out
