#!/usr/bin/env python3
"""Rules, alerts, dashboards and their pages fit together, and with the metrics that the code has. Whether dashboards fit
Grafana's own schema is in e2e/cases/test_monitoring.py, which has Go.

usage: tests/monitoring.py [--promtool]
    --promtool: fail where promtool (Debian: prometheus) is missing, instead of leaving its checks out
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "helm" / "trainyard" / "files" / "rules" / "trainyard.yaml"
DASHBOARDS = sorted((ROOT / "helm" / "trainyard" / "files" / "dashboards").glob("*.json"))
TESTS = ROOT / "tests" / "monitoring" / "rules_test.yaml"
METRIC = re.compile(r"\b(?:trainyard|process)_[a-z0-9_]+|\btrainyard:[a-z0-9_:]+")

problems = []


def check(good, what):
    if not good:
        problems.append(what)


def run(*argv):
    done = subprocess.run([str(each) for each in argv], capture_output=True, text=True, check=False, cwd=ROOT)
    check(done.returncode == 0, f"{' '.join(map(str, argv))}:\n{done.stdout}{done.stderr}".strip())


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions():
    """(where, expression) of every panel and variable."""
    for path in DASHBOARDS:
        board = json.loads(path.read_text())
        for panel in board["panels"]:
            for target in panel["targets"]:
                yield f"{path.name}: {panel['title']}", target["expr"]
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                yield f"{path.name}: ${variable['name']}", re.match(r"label_values\((.*), *\w+\)$", variable["query"]).group(1)


def runnable(expression):
    """What Grafana would send, with an interval and all values of variables."""
    return expression.replace("$__rate_interval", "5m").replace("$queue", ".*")


def known_metrics():
    found = set()
    for name, kind in re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs" / "metrics.md").read_text(), re.M):
        found |= {name + end for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
    return found | {rule["record"] for rule in rules() if "record" in rule}


def check_names():
    known = known_metrics()
    said = [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()] + list(expressions())
    said += [("docs/metrics.md", line) for line in re.findall(r"\| `([^`]*\([^`]*)` \|", (ROOT / "docs/metrics.md").read_text())]
    for where, expression in said:
        for name in METRIC.findall(expression):
            check(name in known, f"{where}: no program has {name}")


def check_alerts():
    alerts = [rule["alert"] for rule in rules() if "alert" in rule]
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "runbook.md").read_text(), re.M)
    check(sorted(alerts) == sorted(headings), f"docs/runbook.md and the alerts differ: {set(alerts) ^ set(headings)}")
    tested = set(re.findall(r"Trainyard\w+", TESTS.read_text()))
    check(set(alerts) == tested, f"alerts and their tests differ: {set(alerts) ^ tested}")
    for rule in rules():
        if "alert" in rule:
            check(rule["labels"].get("severity") in ("critical", "warning", "info"), f"{rule['alert']}: no severity")
            check({"summary", "description"} == set(rule["annotations"]), f"{rule['alert']}: annotations")


def check_dashboards():
    check(len(DASHBOARDS) == 4, "four dashboards")
    uids = [json.loads(path.read_text())["uid"] for path in DASHBOARDS]
    check(len(set(uids)) == len(uids), "two dashboards with one uid")
    for path in DASHBOARDS:
        taken = set()
        for panel in json.loads(path.read_text())["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            check(place["x"] + place["w"] <= 24 and not cells & taken, f"{path.name}: {panel['title']} overlaps")
            taken |= cells


def check_with_promtool():
    run("promtool", "check", "rules", RULES)
    run("promtool", "test", "rules", TESTS)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        group = [{"record": f"panel:{number}", "expr": runnable(expression)}
                 for number, (_, expression) in enumerate(expressions())]
        yaml.safe_dump({"groups": [{"name": "panels", "rules": group}]}, file)
        file.flush()
        run("promtool", "check", "rules", file.name)


def main():
    run("tools/metrics-reference", "--check")
    run("tools/dashboards", "--check")
    check_names()
    check_alerts()
    check_dashboards()
    if shutil.which("promtool"):
        check_with_promtool()
    else:
        check("--promtool" not in sys.argv, "promtool is missing: tools/deps monitoring")
        print("promtool is not here: rules and expressions are not parsed (tools/deps monitoring)")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"monitoring: {len(rules())} rules, {len(list(expressions()))} expressions, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
