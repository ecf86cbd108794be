#!/usr/bin/env python3
"""Runs `trainyard adopt` and `trainyard convert` over all manifests of folders, such as the examples of other controllers.

usage: tests/manifests.py --cli build/release/cli/trainyard [--verbose] FOLDER...
    --verbose: print every line of the reports, not only those of objects that are refused or cannot work as written

Counts the objects with pods by kind and exit status: 0 all keeps its meaning, 3 something differs, 4 something cannot work
as written, 1 the command does not take this kind. Exit code 1 if a command ends in another way, or if what `adopt` writes
cannot be read by `adopt`.
"""
import argparse
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

STATUSES = (0, 3, 4, 1)


def objects_of(path):
    """(kind, text) of each object with pods."""
    for text in re.split(r"^---.*$", path.read_text(errors="replace"), flags=re.M):
        kind = re.search(r"^kind:\s*[\"']?(\w+)", text, re.M)
        if kind and ("containers:" in text or kind.group(1).endswith(("Job", "JobSet"))):
            yield kind.group(1), text


def run(cli, command, text):
    done = subprocess.run([cli, command, "-f", "-"], input=text, capture_output=True, text=True, timeout=60, check=False)
    comments = [line[2:] for line in done.stdout.splitlines() if line.startswith("# ")]
    return done.returncode, done.stdout, done.stderr.splitlines() + (comments if command == "convert" else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", required=True)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    counts, problems = {"adopt": defaultdict(Counter), "convert": defaultdict(Counter)}, 0
    for path in sorted(each for folder in arguments.folders for each in folder.rglob("*.y*ml")):
        for kind, text in objects_of(path):
            for command, table in counts.items():
                status, output, lines = run(arguments.cli, command, text)
                table[kind][status] += 1
                reasons = [line for line in lines if arguments.verbose or status == 1 or "cannot work" in line]
                if status in (1, 4) or arguments.verbose:
                    print(f"{path.name}: {kind}: {command} {status}", *reasons, sep="\n    ")
                again = run(arguments.cli, command, output)[0] if command == "adopt" and status != 1 else 0
                if status not in STATUSES or again not in STATUSES[:3]:
                    problems += 1
                    print(f"{path}: {kind}: {command} ended with {status}, again {again}", *lines, sep="\n    ")
    for command, table in counts.items():
        print(f"\n{command:24} {'all':>5} " + " ".join(f"{'exit ' + str(status):>7}" for status in STATUSES))
        for kind, each in [*sorted(table.items()), ("all", sum(table.values(), Counter()))]:
            print(f"{kind:24} {sum(each.values()):5} " + " ".join(f"{each[status]:7}" for status in STATUSES))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
