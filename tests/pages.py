#!/usr/bin/env python3
"""Pages that repeat what the code has say all of it: reasons and Events, the API; and links lead somewhere."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
problems = []


def check(good, what):
    if not good:
        problems.append(what)


def source(*folders):
    return "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in sorted((ROOT / folder).rglob("*.cpp")))


def reason_table():
    """The rows of kPendingReasons by name; without "Other", which is never written."""
    row = re.compile(r'Row\{k\w+,\s*"(\w+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*k(\w+),\s*k(\w+)\}')
    fields = ("waitsForCapacity", "expectsStart", "wantsNodes")
    table = {}
    for name, *flags, delay, kind in row.findall((ROOT / "src/model/reasons.h").read_text(encoding="utf-8")):
        table[name] = {**{field: flag == "true" for field, flag in zip(fields, flags)}, "delay": delay, "kind": kind}
    check(len(table) > 10 and table.pop("Other", None), "src/model/reasons.h: the rows of kPendingReasons were not found")
    return table


def check_reason_lists(table):
    """Lists of reasons outside of the code: the CRD's descriptions, the alerts and the last rows of docs/reasons.md."""
    admitted = [name for name, row in table.items() if row["kind"] == "Admitted"]
    refused = [name for name, row in table.items() if row["kind"] != "Admitted"]
    text = " ".join((ROOT / "crds/trainyard.dev_trainingjobs.yaml").read_text(encoding="utf-8").split())

    def same(what, found, wanted):
        check(set(found) == set(wanted), f"{what} lists {', '.join(found) or 'nothing'}; by src/model/reasons.h: {', '.join(wanted)}")

    def part(begin, end):
        found = re.search(re.escape(begin) + "(.*?)" + re.escape(end), text)
        return found.group(1) if found else ""

    same("the CRD, status.conditions[].reason,", re.findall(r"\w+", part("With Admitted=False: ", ".")), refused)
    same("the CRD, status.pending.reason,", re.findall(r"([A-Z]\w+): ", part("events and metrics use the same. ", "type: string")),
         admitted)
    same("the CRD, status.delays.fairShareSeconds,",
         re.findall(r"\w+", part("because its queue had used up its share (", ")")),
         [name for name, row in table.items() if row["delay"] == "FairShare"])
    delays = re.findall(r'DelayKindTraits\{DelayKind::k\w+, "(\w+)"\}', (ROOT / "src/model/reasons.h").read_text(encoding="utf-8"))
    check(f"enum: [{', '.join(delays[1:])}]" in text, f"the CRD does not list the kinds of delay {', '.join(delays[1:])}")
    queues = (ROOT / "docs/queues.md").read_text(encoding="utf-8")
    counted = dict(re.findall(r"^\| (\w+) \| [^|]+ \| ([^|]+) \|$", queues[queues.index("## Why a job waits"):], re.M))
    for name, row in table.items():
        delay = {"None": None, "FairShare": "fair share", "Fragmentation": "fragmentation"}[row["delay"]]
        check(not delay or counted.get(name, "").startswith((delay, "the same")), f"docs/queues.md does not count {name} as {delay}")
    rules = (ROOT / "helm/trainyard/files/rules/trainyard.yaml").read_text(encoding="utf-8")
    listed = [name for each in re.findall(r'trainyard_waiting_jobs\{reason=~?"([\w|]+)"\}', rules) for name in each.split("|")]
    for name in listed:
        check(name in table, f"the alerts name the reason {name}, which does not exist")
    # Free GPUs end these waits. A job that waits for its turn waits for a job ahead of it.
    starting = re.search(r'trainyard_waiting_jobs\{reason=~"([\w|]+)"\}', rules)
    same("the alert TrainyardNothingStarts", starting.group(1).split("|") if starting else [],
         [name for name, row in table.items() if row["expectsStart"] or name == "WaitingForTurn"])
    page = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reasons.md").read_text(encoding="utf-8"), re.M)
    same("docs/reasons.md, the rows of jobs that are not admitted,", page[len(admitted):len(table)], refused)
    check(len(refused) == 9, "docs/reasons.md says below its first table how many reasons are those of jobs that are not admitted")


def check_reasons():
    page = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    said = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    table = reason_table()
    check_reason_lists(table)
    check_set_by_code(table, "src/model/reasons.h", set())
    reasons = set(table)
    events = set(re.findall(r'\{\s*(?:true|false),\s*"([A-Z]\w+)"', source("src/core", "operator")))
    events |= set(re.findall(r'EventType::k\w+,\s*"([A-Z]\w+)"', source("operator")))
    types = set(re.findall(r'string_view k\w+ = "([A-Z]\w+)"', "".join(
        (ROOT / "src/model" / name).read_text() for name in ("conditions.h", "provisioning.h"))))
    for kind, words in (("reason", reasons), ("Event", events), ("condition", types)):
        for word in sorted(words - said):
            check(False, f"docs/reasons.md does not have the {kind} {word}")
    for word in sorted(said - reasons - events - types):
        check(False, f"docs/reasons.md has {word}, which no code says")


def check_policy_example():
    """Every key that the chart takes stands in the example, if only as a comment."""
    schema = json.loads((ROOT / "helm/trainyard/values.schema.json").read_text(encoding="utf-8"))
    lines = (ROOT / "examples/policy.yaml").read_text(encoding="utf-8").splitlines()

    def keys_below(section):
        begin = next((at for at, line in enumerate(lines) if re.match(rf"(# )?{section}:", line)), None)
        check(begin is not None, f"examples/policy.yaml does not have {section}")
        found = []
        for line in lines[begin + 1:] if begin is not None else []:
            if line and not re.match(r"(# )?  ", line) and not line.startswith("  "):
                break
            found += re.findall(r"^(?:# )?  (\w+):", line)
        return found

    def resolved(part):
        return schema["definitions"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part

    for name, part in schema["properties"]["policy"]["properties"].items():
        below = keys_below(name)
        for key in resolved(part).get("properties", {}):
            check(key in below, f"examples/policy.yaml does not have {name}.{key}")


def check_orderings():
    """Lists of orderings that no compiler sees: drawn policies (srsf stands for srtf), the CLI's help and the pages."""
    table = re.findall(r'OrderingTraits\{Ordering::k\w+, "(\w+)"', (ROOT / "src/model/ordering.h").read_text(encoding="utf-8"))
    check(len(table) > 3, "src/model/ordering.h: the rows of kOrderings were not found")
    tenants = (ROOT / "tests/property/drawn_tenants.py").read_text(encoding="utf-8")
    drawn = re.findall(r"draw\.policy\(rng\.choice\(\[(.*?)\]\)\)", tenants)
    check(drawn, "tests/property/drawn_tenants.py draws no ordering")
    for choice in drawn:
        check(set(re.findall(r"\w+", choice)) == set(table) - {"srtf"},
              f"tests/property/drawn_tenants.py draws the orderings {choice}; src/model/ordering.h has {', '.join(table)}")
    for name in ("cli/replay_command.cpp", "docs/policy.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for ordering in table:
            check(re.search(rf"\b{ordering}\b", text), f"{name} does not have the ordering {ordering}")
    scenarios = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/scenario").glob("*.scenario"))
    choices = (ROOT / "examples/policy.yaml").read_text(encoding="utf-8")
    for ordering in table:
        check(ordering == "default" or f"ordering: {ordering}\n" in scenarios, f"no scenario has the ordering {ordering}")
        check(re.search(rf"\b{ordering}\b", choices), f"examples/policy.yaml does not have the ordering {ordering}")


def check_set_by_code(names, table, but):
    """Values of an enumeration that no code outside of its tables `but` sets are promises that nothing keeps."""
    paths = [path for folder in ("src/core", "src/codec", "operator") for path in (ROOT / folder).rglob("*.cpp")
             if str(path.relative_to(ROOT)) not in but]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    for name in names:
        check(re.search(rf"\bk{name}\b", text), f"no code sets {name} of {table}")


def check_failure_classes():
    table = "src/model/failure_class.cpp"
    names = re.findall(r'Row\{FailureClass::k(\w+),', (ROOT / table).read_text(encoding="utf-8"))
    check(len(names) > 20, f"{table}: the rows of the failure classes were not found")
    page = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
    for name in names:
        check(f"`{name}`" in page, f"docs/failures.md does not have the class {name}")
    check_set_by_code(names, table, {"src/core/lifecycle/failure_class.cpp", "src/core/search/suspicion.cpp"})


def check_frameworks():
    table = re.findall(r'FrameworkTraits\{Framework::k\w+, "(\w+)"', (ROOT / "src/model/framework.h").read_text(encoding="utf-8"))
    check(len(table) > 5, "src/model/framework.h: the rows of kFrameworks were not found")
    text = (ROOT / "docs/frameworks.md").read_text(encoding="utf-8")
    examples = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "examples/frameworks").glob("*.yaml")}
    cases = (ROOT / "e2e/cases/test_frameworks.py").read_text(encoding="utf-8")
    for name in table:
        check(re.search(rf"^## .*\b{name}\b", text, re.M), f"docs/frameworks.md has no section of the framework {name}")
        files = [file for file, content in examples.items() if re.search(rf"framework: {name}\b", content)]
        check(files, f"no file of examples/frameworks has the framework {name}")
        check(any(file.removesuffix(".yaml") in cases for file in files), f"e2e/cases/test_frameworks.py runs no example of {name}")


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check_links():
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, heading = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            check(file.exists(), f"{path.name}: {target} leads nowhere")
            if heading and file.suffix == ".md" and file.exists():
                check(heading in anchors(file), f"{path.name}: {target} has no such heading")


def main():
    done = subprocess.run([ROOT / "tools" / "api-reference", "--check"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr.strip())
    check_reasons()
    check_orderings()
    check_frameworks()
    check_failure_classes()
    check_policy_example()
    check_links()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"pages: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
