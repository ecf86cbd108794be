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


def check_reasons():
    page = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    said = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    reasons = set(re.findall(r'case PendingReason::k\w+: return "(\w+)"', source("src/model"))) - {"Other"}
    check(len(reasons) > 10, "no reasons were found in the code")
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
    check_policy_example()
    check_links()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"pages: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
