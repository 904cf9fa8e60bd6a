"""Runs pytest in processes one after another, so that one test that crashes or does not end leaves the others.

    python each_test.py RECORD EXPLAINED SECONDS PYTEST_ARGUMENT…

RECORD is a file that gets a line for each test: how it ended, CPU seconds, its name, and where it failed why. A test that takes
more than SECONDS of the process' CPU time ends its process and counts as "no end"; one that takes the process with it counts as
"crash". The next process goes on behind it. Fails where any test neither passed nor was skipped, unless its name is like a line
of the file EXPLAINED (with `*` and `?`).
"""

import collections
import fnmatch
import os
import subprocess
import sys
import threading
import time

RECORD, SECONDS = "EACH_TEST_RECORD", "EACH_TEST_SECONDS"
# Exit statuses of a process: pytest's, and that of a test that took too long.
ALL_PASSED, SOME_FAILED, NONE_LEFT, OVERTIME = 0, 1, 5, 77
FINE = ("passed", "skipped", "xfailed")


def records(path):
    """The lines of the record, by the name of the test: how it ended, its seconds and the reason."""
    found = {}
    if os.path.exists(path):
        for line in open(path, errors="replace"):
            how, seconds, name, reason = line.rstrip("\n").split("\t")
            found[name] = (how, float(seconds), reason)
    return found


def write(how, seconds, name, reason=""):
    reason = " ".join(reason.split())[:300]
    with open(os.environ[RECORD], "a") as record:
        print(how, f"{seconds:.2f}", name, reason, sep="\t", file=record)


class Watched:
    """The plugin that pytest gets within each process."""

    def __init__(self):
        self.began = 0.0
        self.name = None
        self.reported = {}

    def pytest_collection_modifyitems(self, items):
        done = records(os.environ[RECORD])
        items[:] = [item for item in items if item.nodeid not in done]

    def pytest_runtest_logstart(self, nodeid):
        self.began, self.name = time.process_time(), nodeid
        self.reported = {}
        write("crash", 0, nodeid)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            how = "error" if report.failed and report.when != "call" else report.outcome
            if hasattr(report, "wasxfail"):
                how = "xfailed"
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message if crash else str(report.longrepr or "")
            self.reported.setdefault("how", how)
            self.reported.setdefault("reason", reason if how in ("failed", "error") else "")
            if how == "error":
                self.reported["how"] = how

    def pytest_runtest_logfinish(self, nodeid):
        self.name = None
        write(self.reported.get("how", "passed"), time.process_time() - self.began, nodeid, self.reported.get("reason", ""))

    def watch(self, seconds):
        """Ends the process where a test has taken too long."""
        while True:
            time.sleep(0.2)
            name, taken = self.name, time.process_time() - self.began
            if name and taken > seconds:
                write("no end", taken, name)
                os._exit(OVERTIME)


def within(arguments):
    """One process: runs what has no record yet."""
    import pytest

    plugin = Watched()
    threading.Thread(target=plugin.watch, args=[float(os.environ[SECONDS])], daemon=True).start()
    # Through the exit of the interpreter, as a driver may crash there.
    sys.exit(pytest.main(arguments, plugins=[plugin]))


def run_all(record, arguments):
    """The exit status of the last process. Ends where one has got nowhere."""
    while True:
        before = len(records(record))
        status = subprocess.run([sys.executable, __file__, "--within", *arguments]).returncode
        if (status != OVERTIME and status >= 0) or len(records(record)) == before:
            return status


def main():
    record, explained, seconds, *arguments = sys.argv[1:]
    os.environ[RECORD], os.environ[SECONDS] = record, seconds
    status = run_all(record, arguments)
    with open(explained) as lines:
        patterns = lines.read().splitlines()
    counts = collections.Counter()
    for name, (how, taken, reason) in records(record).items():
        if how not in FINE and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            how = "explained"
        elif how not in FINE:
            print(f"{how} ({taken:.1f} s): {name}: {reason}")
        counts[how] += 1
    print(", ".join(f"{count} {how}" for how, count in sorted(counts.items())) or "no tests")
    is_whole = status in (ALL_PASSED, SOME_FAILED, NONE_LEFT)
    sys.exit(not is_whole or not counts["passed"] or any(how not in (*FINE, "explained") for how in counts))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--within"]:
        within(sys.argv[2:])
    else:
        main()
