#!/usr/bin/env python3
"""Bounds the size of an object by its schema, because the API server checks each element of an object at every write of it.

1. Every list, map and text has a bound. Lists in lists multiply: the largest number of elements of one object is bounded.
2. The limits of the code are those of the schema. An object that only the operator refuses is stored, and costs the API
   server the more.
3. The kinds of other controllers are the same in the operator's table and in the chart, which gives the operator its rights
   to them and has the API server check them at creation.

Not counted: `metadata` (the policy trainyard-job-metadata bounds it), and pod templates, which the schema does not describe.
"""
import json
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
# Elements of lists and maps. Users write the spec, so that it costs little. Only the operator writes the status: it has the
# nodes of a gang's 80,000 members at most, and etcd's 1.5 MB end it earlier.
LARGEST = {"TrainingJob": {"spec": 24_000, "status": 125_000}, "Gang": {"spec": 2_500, "status": 2_500},
           "Queue": {"spec": 5_000, "status": 500}}
# Path and keyword of the schema: file and constant of the code.
LIMITS = {
    ("spec.roles", "maxItems"): ("codec/job_spec.h", "kMaxRoles"),
    ("spec.roles[].name", "maxLength"): ("codec/job_spec.cpp", "kMaxRoleName"),
    ("spec.elastic.speeds", "maxItems"): ("codec/job_spec.cpp", "kMaxSpeeds"),
    ("spec.locality.levels", "maxItems"): ("codec/job_spec.cpp", "kMaxLevels"),
    ("spec.plan.model.speeds", "maxItems"): ("codec/model_profile.cpp", "kMaxTypes"),
    ("spec.plan.model.measurements", "maxItems"): ("codec/model_profile.cpp", "kMaxMeasurements"),
    ("spec.plan.model.measurements", "sum"): ("codec/model_profile.cpp", "kMaxNodes"),
    ("spec.plan.model.measurements[].workersPerNode", "maxItems"): ("codec/model_profile.cpp", "kMaxNodesOfStep"),
    ("spec.success.roles", "maxItems"): ("codec/job_spec.h", "kMaxRoles"),
    ("spec.failure.rules", "maxItems"): ("codec/failure_policy.cpp", "kMaxPolicyRules"),
    ("spec.failure.rules[].roles", "maxItems"): ("codec/job_spec.h", "kMaxRoles"),
    ("spec.failure.rules[].onExitCodes.values", "maxItems"): ("codec/failure_policy.cpp", "kMaxPolicyExitCodes"),
    ("spec.failure.rules[].onPodConditions", "maxItems"): ("codec/failure_policy.cpp", "kMaxPodConditions"),
    ("status.conditions[].message", "maxLength"): ("model/limits.h", "kConditionMessage"),
    ("status.pending.message", "maxLength"): ("model/limits.h", "kConditionMessage"),
    ("status.gang.backoff.avoidNodes", "maxItems"): ("core/gang/gang_proposals.cpp", "kMaxAvoided"),
    ("status.progress.metrics", "maxItems"): ("codec/progress_report.cpp", "kMaxMetrics"),
}
problems = []


def check(good, what):
    if not good:
        problems.append(what)


def below(schema):
    """(suffix of the path, schema, keyword of its bound) of each element and field; the keyword is empty for a field."""
    if "items" in schema:
        yield "[]", schema["items"], "maxItems"
    if isinstance(schema.get("additionalProperties"), dict):
        yield ".*", schema["additionalProperties"], "maxProperties"
    for name, each in schema.get("properties", {}).items():
        yield f".{name}", each, ""


def is_text(schema):
    bounded = "enum" in schema or schema.get("format") == "date-time"
    return not bounded and (schema.get("type") == "string" or "x-kubernetes-int-or-string" in schema)


def walk(schema, path, found):
    """Notes the schema of every path; returns the largest number of elements below."""
    found[path] = schema
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return 0
    check(not is_text(schema) or "maxLength" in schema, f"{path}: a text without maxLength")
    count = 0
    for suffix, each, keyword in below(schema):
        inner = walk(each, path + suffix, found)
        if keyword:
            check(keyword in schema, f"{path}: no {keyword}")
            inner = schema.get(keyword, 0) * (1 + inner)
        count += inner
    return count


def constant(file, name):
    text = (ROOT / "src" / file).read_text(encoding="utf-8")
    number = re.search(rf"constexpr [\w:]+ {name} = ([\d']+);", text)
    return int(number.group(1).replace("'", "")) if number else None


def bound(schema, keyword):
    if keyword != "sum":
        return schema.get(keyword)
    rules = " ".join(each["rule"] for each in schema.get("x-kubernetes-validations", []))
    number = re.search(r"\.sum\(\) <= (\d+)$", rules)
    return int(number.group(1)) if number else None


def check_limits(found):
    for (path, keyword), (file, name) in LIMITS.items():
        check(path in found, f"{path} is not in the schema")
        written, read = bound(found.get(path, {}), keyword), constant(file, name)
        check(written is not None and written == read,
              f"{path}: {keyword} is {written} in the schema, and {name} in src/{file} is {read}")


def operators_kinds():
    """{kind: (group, version, plural, field with `suspend`)} of the table in src/model/owner_kinds.h."""
    text = (ROOT / "src/model/owner_kinds.h").read_text(encoding="utf-8")
    table = text[text.index("kOwnerKinds{{"):text.index("}};")]
    row = re.compile(r'\{"(\w+)",\s*"([\w.-]+)",\s*"(\w+)",\s*"(\w+)",\s*WorkloadForm::\w+,\s*"[\w.]*",\s*"([\w.]*)"')
    found = {kind: tuple(rest) for kind, *rest in row.findall(table)}
    check(len(found) == table.count("WorkloadForm::"), "src/model/owner_kinds.h: a row that this program cannot read")
    return found


def charts_kinds():
    """The same of the helper trainyard.workloadTypes."""
    text = (ROOT / "helm/trainyard/templates/_helpers.tpl").read_text(encoding="utf-8")
    body = re.search(r'define "trainyard.workloadTypes" -\}\}\n(.*?)\{\{- end', text, re.DOTALL).group(1)
    return {kind: tuple(each[name] for name in ("group", "version", "plural", "suspend"))
            for kind, each in yaml.safe_load(body).items()}


# Kinds that only say which pods a gang has.
READ_ONLY = ("LeaderWorkerSet", "PodGroup")


def check_kinds():
    ours, charts = operators_kinds(), charts_kinds()
    for kind in sorted({*ours, *charts}):
        check(ours.get(kind) == charts.get(kind), f"{kind}: {ours.get(kind)} in src/model/owner_kinds.h, "
              f"{charts.get(kind)} in trainyard.workloadTypes of the chart")
    values = json.loads((ROOT / "helm/trainyard/values.schema.json").read_text(encoding="utf-8"))
    allowed = values["properties"]["workloads"]["properties"]["kinds"]["items"]["enum"]
    check(sorted(allowed) == sorted([*ours, *READ_ONLY]), f"workloads.kinds of the chart's values may have {allowed}")
    text = re.sub(r"\s*# ", " ", (ROOT / "helm/trainyard/values.yaml").read_text(encoding="utf-8"))
    listed = re.search(r"operator queues and places: ([\w, ]+)\.", text).group(1)
    check(listed.split(", ") == list(ours), f"workloads.kinds in the chart's values.yaml: {listed}")


def main():
    largest = []
    check_kinds()
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        spec = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]
        kind = spec["names"]["kind"]
        for version in spec["versions"]:
            found = {}
            for part, most in LARGEST[kind].items():
                count = walk(version["schema"]["openAPIV3Schema"]["properties"][part], part, found)
                largest.append(f"{kind}.{part} {count}")
                check(count <= most, f"{kind}: {part} may have {count} elements, more than {most}")
            if kind == "TrainingJob":
                check_limits(found)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"schemas: {len(problems)} problems; elements at most: {', '.join(largest)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
