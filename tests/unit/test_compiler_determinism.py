"""The same snapshot and request give the same bytes in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from antiphon_client.compiled_parts import WITHOUT as WITHOUT_COMPILED_PARTS

ROOT = Path(__file__).resolve().parents[2]

# Compiles every measured vector, in one process, and prints one hash over all replies.
PROGRAM = """
import gzip, hashlib, json, sys
from tests.support.compiler import compile_inline, request_of
total = hashlib.sha256()
with gzip.open(sys.argv[1], "rt", encoding="utf-8") as lines:
    for line in lines:
        response = compile_inline(request_of(json.loads(line)["input"]))
        total.update(response.messages_digest.encode())
        total.update(response.SerializeToString())
print(total.hexdigest(), hash("probe"))
"""


def test_four_processes_with_different_hash_seeds_agree() -> None:
    vectors = ROOT / "tests" / "golden" / "vectors" / "compile.jsonl.gz"
    path = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(vectors)],
            # Every second one does without what is compiled from C.
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": path,
                WITHOUT_COMPILED_PARTS: "1" if number % 2 else "",
            },
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, seed in enumerate(("0", "1", "4242", "4294967295"))
    ]
    outputs = [process.communicate(timeout=120)[0].split() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len({digest for digest, _ in outputs}) == 1
    # The seeds did differ.
    assert len({probe for _, probe in outputs}) == 4
