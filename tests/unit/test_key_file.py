"""The file of master keys: what it may hold, who may read it, how a key is added."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from antiphon_client.key_file import KeyFileError, NamedKey, add_key, read_key_file
from tests.support.cli import command
from tests.support.encryption import FIRST, SECOND, write_key_file


def written(folder: Path, text: str, mode: int = 0o600) -> str:
    path = folder / "keys"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_keys_come_in_order_without_comments(tmp_path: Path) -> None:
    first, second = FIRST.secret.hex().upper(), SECOND.secret.hex()
    text = f"# keys\n\n  {FIRST.name}\t{first}  # newest\n{SECOND.name} {second}"
    assert read_key_file(written(tmp_path, text)) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no keys"),
        ("# nothing\n", "has no keys"),
        (f"a {'0' * 63}", "line 1: not a name and 64 hexadecimal digits"),
        (f"a {'0' * 65}", "line 1"),
        (f"a {'g' * 64}", "line 1"),
        (f"\n{'0' * 64}", "line 2"),
        (f"-a {'0' * 64}", "line 1"),
        (f"a {'0' * 64} b", "line 1"),
        (f"a {'0' * 64}\na {'1' * 64}", "line 2: the key 'a' stands in the file twice"),
        (f"a {'0' * 64}\nb {'0' * 64}", "line 2: the key 'b' stands in the file twice"),
        ("schlüssel", "is not a file of keys"),
    ],
)
def test_a_wrong_file_is_refused_without_telling_what_it_holds(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(KeyFileError) as caught:
        read_key_file(written(tmp_path, text))
    assert said in str(caught.value)
    assert "00000000" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o601])
def test_a_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path, f"a {'1' * 64}\n", mode)
    with pytest.raises(KeyFileError, match="open to others"):
        read_key_file(path)
    with pytest.raises(KeyFileError, match="open to others"):
        add_key(path, "b")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot read"):
        read_key_file(str(tmp_path / "absent"))
    with pytest.raises(KeyFileError, match=r"cannot read|no regular file"):
        read_key_file(str(tmp_path))
    with pytest.raises(KeyFileError, match="no regular file"):
        read_key_file(os.devnull)


def test_a_key_shows_its_name_alone() -> None:
    assert repr(NamedKey("a", b"\x42" * 32)) == "NamedKey('a')"


def test_a_new_key_goes_first_and_the_others_stay(tmp_path: Path) -> None:
    path = str(tmp_path / "keys")
    add_key(path, "one")
    add_key(path, "two")
    two, one = read_key_file(path)
    assert (two.name, one.name) == ("two", "one")
    assert two.secret != one.secret
    assert len(two.secret) == 32
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert os.listdir(tmp_path) == ["keys"]
    with pytest.raises(KeyFileError, match="already"):
        add_key(path, "one")
    with pytest.raises(KeyFileError, match="no name"):
        add_key(path, "a b")
    assert read_key_file(path) == [two, one]


def test_a_link_to_a_key_file_stays_a_link(tmp_path: Path) -> None:
    target = write_key_file(tmp_path / "target")
    link = tmp_path / "link"
    link.symlink_to(target)
    add_key(str(link), "newer")
    assert link.is_symlink()
    assert [key.name for key in read_key_file(str(target))] == ["newer", FIRST.name]


def run(*arguments: str) -> tuple[int | None, str, str]:
    with command("key", "new", *arguments) as process:
        out, err = process.communicate()
    return process.returncode, out, err


def test_the_command_makes_a_key_and_does_not_show_it(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    code, out, err = run(str(path), "--name", "winter")
    assert (code, err) == (0, "")
    (key,) = read_key_file(str(path))
    assert key.name == "winter"
    assert "winter" in out
    assert key.secret.hex() not in out
    code, out, err = run(str(path), "--name", "winter")
    assert (code, out) == (1, "")
    assert "has a key named 'winter' already" in err
    assert run(str(path))[0] == 0
    assert len(read_key_file(str(path))) == 2
