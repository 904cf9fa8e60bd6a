"""Counts what piglit's programs said: each file of the folder is the output of one. Prints whatever is neither "pass" nor "skip".

"PIGLIT: {"subtest": {"name" : "result"}}" stands for each part of a program, "PIGLIT: {"result": "result" }" for all of it, which
says nothing new of one with parts. A program without a result has crashed.
"""

import collections
import json
import pathlib
import sys

# Tests that expect something else than the specification, or than what there is.
EXPLAINED = {
    # 0.0f plus the float whose bits are 64 is that float where denormals are kept (CL_FP_DENORM), as here.
    "tests/cl/program/execute/amdgcn-f32-inline-immediates.cl: add integer 64",
    # Debian's package leaves out the header that it includes.
    "tests/cl/program/build/include-directories.cl: all of it",
}
counts = collections.Counter()
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    lines = path.read_text(errors="replace").splitlines()
    found, whole = [], None
    for line in lines:
        if line.startswith("PIGLIT: "):
            record = json.loads(line.removeprefix("PIGLIT: "))
            found += record.get("subtest", {}).items()
            whole = record.get("result", whole)
    if whole is None:
        found.append(("all of it", "crash"))
    elif not found:
        found.append(("all of it", whole))
    file = path.name.replace("%", "/")
    found = [
        (name, "explained" if result == "fail" and f"{file}: {name}" in EXPLAINED else result) for name, result in found
    ]
    counts.update(result for _, result in found)
    bad = [one for one in found if one[1] not in ("pass", "skip", "explained")]
    for name, result in bad:
        print(f"{result}: {file}: {name}")
    if bad:
        print(*("    " + line for line in lines[-8:]), sep="\n")
print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
sys.exit(not counts["pass"] or any(result not in ("pass", "skip", "explained") for result in counts))
