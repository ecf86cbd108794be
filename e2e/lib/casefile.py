"""Runs one file of e2e/cases in a process of its own, on a cluster of its own; e2e/run starts it.

    python3 -m lib.casefile FILE --report REPORT [-k PATTERN]

A file whose CLUSTER is the text "shared" uses the running one whose directory is $TRAINYARD_E2E_SHARED.

Results go to REPORT, one JSON object a line, as they come: {"test", "outcome", "seconds", "text"}. A test fails as well where
a program has logged a secret meanwhile; Events and ConfigMaps are checked when all tests of the file have run.
"""
import argparse
import ast
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path

from . import leaks, trainyard
from .cluster import Cluster

_LOG_LINES = 25


class Report:
    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8", buffering=1)  # pylint: disable=consider-using-with

    def add(self, test, outcome, seconds, text=""):
        line = {"test": test, "outcome": outcome, "seconds": round(seconds, 2), "text": text}
        self._file.write(json.dumps(line) + "\n")


class Logs:
    """What Trainyard's programs have logged since the mark."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._marks = {}
        self._watched = leaks.Watched(cluster) if cluster else None

    def secrets(self):
        """What has been logged of them since the last call, in words; "" for nothing."""
        return _message("logged", self._watched.more()) if self._watched else ""

    def mark(self):
        self._marks = {path: path.stat().st_size for path in self._paths()}

    def since(self):
        parts = []
        for path in self._paths():
            with path.open("rb") as file:
                file.seek(self._marks.get(path, 0))
                lines = file.read().decode(errors="replace").splitlines()
            parts.append(f"--- {path.name}: {len(lines)} lines during this test, the last of them")
            parts += ["    " + leaks.hide(line)[:600] for line in lines[-_LOG_LINES:]]
        return "\n".join(parts)

    def _paths(self):
        return sorted(self._cluster.dir.glob("logs/trainyard-*.log")) if self._cluster else []


def _message(how, found):
    return "\n".join([f"secrets are {how}:", *found]) if found else ""


class Result(unittest.TestResult):
    """One line of the report for each test; failures of subtests are failures of their test."""

    def __init__(self, report, logs):
        super().__init__()
        self._report, self._logs = report, logs
        self._texts, self._skipped = [], None
        self._begun = time.monotonic()
        self.bad = False

    def secrets(self):
        return self._logs.secrets()

    def startTest(self, test):
        super().startTest(test)
        self._logs.mark()
        self._texts, self._skipped = [], None
        self._begun = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        seconds = time.monotonic() - self._begun
        if said := self._logs.secrets():
            self._texts.append(said)
        if self._texts:
            self.bad = True
            self._report.add(test.id(), "failed", seconds, "\n".join(self._texts) + "\n" + self._logs.since())
        elif self._skipped is not None:
            self._report.add(test.id(), "skipped", seconds, self._skipped)
        else:
            self._report.add(test.id(), "passed", seconds)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            where = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._texts.append(f"{subtest}\n{where[-1][1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._skipped = reason
        if not isinstance(test, unittest.TestCase):
            self._report.add(test.id(), "skipped", 0, reason)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._texts.append("succeeded, but was expected to fail")

    def _failed(self, test, text):
        self._texts.append(text)
        # Setting up a class or module fails outside any test.
        if not isinstance(test, unittest.TestCase):
            self.bad = True
            self._report.add(test.id(), "failed", 0, text + self._logs.since())


def options_of(path):
    """The value of `CLUSTER = {...}` in a case file; None if it is None or absent."""
    return _said(path, "CLUSTER")


def tools_of(path):
    """The value of `TOOLS = [...]` in a case file: what it needs of tools.CASE_RECIPES."""
    return _said(path, "TOOLS") or []


def _said(path, name):
    for node in ast.parse(path.read_text()).body:
        names = [getattr(each, "id", "") for each in node.targets] if isinstance(node, ast.Assign) else []
        if name in names:
            return ast.literal_eval(node.value)
    return None


def load(path, pattern):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*"] if pattern else None
    return loader.loadTestsFromModule(module)


def run_tests(path, pattern, report, cluster):
    if cluster:
        os.environ["TRAINYARD_E2E_KUBECONFIG"] = str(cluster.kubeconfig)
        os.environ["TRAINYARD_E2E_KUBECTL"] = str(cluster.tools["kubectl"])
        import support  # needs the official client, which this module does without
        support.give(cluster)
        support.wait_leader()
    result = Result(report, Logs(cluster))
    load(path, pattern).run(result)
    begun = time.monotonic()
    # Of what tears a class or the module down, too.
    left = [result.secrets(), _message("shown", leaks.in_objects(cluster)) if cluster else ""]
    if any(left):
        report.add(f"{path.stem}: secrets", "failed", time.monotonic() - begun, "\n".join(filter(None, left)))
    return not result.bad and not any(left)


def run_file(path, pattern, report):
    options = options_of(path)
    if options is None:
        return run_tests(path, pattern, report, None)
    if options == "shared":
        return run_tests(path, pattern, report, Cluster.load(os.environ["TRAINYARD_E2E_SHARED"]))
    begun = time.monotonic()
    bin_dir = os.environ.get("TRAINYARD_E2E_BIN", str(trainyard.DEFAULT_BIN))
    with Cluster.up(bin_dir=bin_dir, **options) as cluster:
        report.add(f"{path.stem}: cluster up", "note", time.monotonic() - begun)
        good = False
        try:
            good = run_tests(path, pattern, report, cluster)
        finally:
            if not good:
                kept = tempfile.mkdtemp(prefix=f"trainyard-{path.stem}-logs-")
                shutil.copytree(cluster.dir / "logs", kept, dirs_exist_ok=True)
                report.add(f"{path.stem}: logs of all processes: {kept}", "note", 0)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--report", required=True)
    parser.add_argument("-k", dest="pattern")
    args = parser.parse_args()
    # The cluster must end with this process, however that ends. Any other exception unittest takes for a failed
    # test, and goes on with the next.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What all cases share lies in e2e/cases, what those of a folder share lies beside them.
    sys.path[:0] = [str(args.file.resolve().parent), str(Path(__file__).resolve().parent.parent / "cases")]
    report = Report(args.report)
    begun = time.monotonic()
    try:
        return 0 if run_file(args.file.resolve(), args.pattern, report) else 1
    except (SystemExit, KeyboardInterrupt):
        report.add(args.file.stem, "failed", time.monotonic() - begun, "interrupted, or out of time")
        raise
    except Exception:  # pylint: disable=broad-except
        report.add(args.file.stem, "failed", time.monotonic() - begun, traceback.format_exc())
        return 1


if __name__ == "__main__":
    sys.exit(main())
