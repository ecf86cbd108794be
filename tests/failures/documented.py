#!/usr/bin/python3
"""Checks that docs/failures.md holds the table that `trainyard classify --philly-table` prints."""

import pathlib
import subprocess
import sys

text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "failures.md").read_text()
table = subprocess.run([sys.argv[1], "classify", "--philly-table"], capture_output=True, text=True, check=True).stdout
if not table.strip() or table not in text:
    sys.exit("docs/failures.md does not hold what `trainyard classify --philly-table` prints:\n" + table)
print("docs/failures.md holds the table")
