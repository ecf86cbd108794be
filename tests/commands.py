#!/usr/bin/env python3
"""Commands that the pages show can be typed: targets, programs, subcommands, flags, values of the chart are there.

    tests/commands.py --cli build/asan/cli/trainyard

Looks at the blocks of shell in every page and at whatever stands between backticks and begins like a command. Runs none
of them but `trainyard COMMAND --help`.
"""
import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")])
SHELL = ("sh", "bash", "console")
OWN = re.compile(r"(make|trainyard|kubectl trainyard|helm (?:install|upgrade|test|uninstall)|(?:tools|e2e|tests|build)/\S+)(?:\s|$)")
# Words that stand for what the reader fills in.
PLACEHOLDER = re.compile(r"[A-Z][A-Z_|]*$|…|\.\.\.")


class Check:
    """What can be typed, and what was found that cannot."""

    def __init__(self, cli):
        self.cli = cli
        self.problems = []
        self.seen = 0
        self.targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
        self.helps = {}
        self.built = "\n".join(path.read_text() for path in ROOT.rglob("CMakeLists.txt") if "build" not in path.parts)
        self.values = yaml.safe_load((ROOT / "helm" / "trainyard" / "values.yaml").read_text())

    def command(self, where, text):
        try:
            words = shlex.split(text, comments=True)
        except ValueError as error:
            return self.say(where, text, str(error))
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words[:2] == ["kubectl", "trainyard"]:
            words = words[1:]
        if not words or PLACEHOLDER.match(words[0]):
            return None
        self.seen += 1
        known = {"make": self.make, "trainyard": self.trainyard, "helm": self.helm}.get(words[0])
        if known:
            return known(where, text, words)
        return self.program(where, text, words[0]) if "/" in words[0] else None

    def say(self, where, text, what):
        self.problems.append(f"{where}: `{text}`: {what}")

    def make(self, where, text, words):
        for word in words[1:]:
            if "=" not in word and not word.startswith("-") and word not in self.targets:
                self.say(where, text, f"make has no target {word}")

    def program(self, where, text, path):
        if path.startswith("build/"):
            name = Path(path).name
            output = path.endswith("/") or path.count("/") < 2 or re.search(r"[*{]|\.(tar|gz|yaml|json)$", path)
            by_pattern = re.fullmatch(r"\w+_tests|fuzz_\w+", name) or list(ROOT.glob(f"tests/**/{name}.cpp"))
            if not output and not by_pattern and not PLACEHOLDER.search(name) \
                    and not re.search(rf"\b{re.escape(name)}\b", self.built):
                self.say(where, text, f"nothing builds {name}")
        elif not PLACEHOLDER.search(path) and not re.search(r"[*<{]", path) and not (ROOT / path).exists():
            self.say(where, text, f"there is no {path}")

    def help(self, command):
        if command not in self.helps:
            argv = [self.cli, *([command] if command else []), "--help"]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
            self.helps[command] = done.stdout if done.returncode == 0 else None
        return self.helps[command]

    def trainyard(self, where, text, words):
        rest = [word for word in words[1:] if word not in ("|", "…")]
        if not rest or PLACEHOLDER.match(rest[0]) or rest[0].startswith("-"):
            return
        known = self.help(rest[0])
        if known is None:
            self.say(where, text, f"trainyard has no command {rest[0]}")
            return
        for word in rest[1:]:
            if word in (">", "|", "&&", ";", "<"):
                break
            flag = re.match(r"\[?(--?[a-z][a-z-]*)", word)
            if flag and not re.search(rf"(^|[\s,]){re.escape(flag.group(1))}(?![\w-])", known):
                self.say(where, text, f"{rest[0]} has no {flag.group(1)}")

    def helm(self, where, text, words):
        for before, word in zip(words, words[1:]):
            if before in ("--set", "--set-string"):
                for pair in word.split(","):
                    self.value(where, text, pair.partition("=")[0])
            elif word.startswith("helm/") and not (ROOT / word).exists():
                self.say(where, text, f"there is no {word}")

    def value(self, where, text, path):
        """Below an empty map or list anything goes."""
        at = self.values
        for part in re.sub(r"\[\d+\]", "", path).replace("\\.", "\0").split("."):
            if at in ({}, []):
                return
            if not isinstance(at, dict) or part.replace("\0", ".") not in at:
                self.say(where, text, f"the chart has no value {path}")
                return
            at = at[part.replace("\0", ".")]


def commands(page):
    """(line number, command) of every command that the page shows."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        if block.group(1) not in SHELL:
            continue
        first = text.count("\n", 0, block.start(2)) + 1
        logical, begin = "", first
        for number, line in enumerate(block.group(2).splitlines(), first):
            if block.group(1) == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            begin = begin if logical else number
            logical += line
            if logical.endswith("\\"):
                logical = logical[:-1] + " "
                continue
            for part in re.split(r"\s(?:\||&&|;)\s|;\s", re.sub(r"\s#\s.*", "", logical)):
                yield begin, re.sub(r"^(?:do|then|in)\s+", "", part.strip())
            logical = ""
    prose = re.sub(r"^```.*?^```", lambda block: re.sub(r"[^\n]", "", block.group()), text, flags=re.S | re.M)
    for found in re.finditer(r"`([^`]+)`", prose):
        words = re.sub(r"\s+", " ", found.group(1)).strip().replace("\\|", "|")
        yield prose.count("\n", 0, found.start()) + 1, words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True, metavar="FILE", help="the program trainyard, built of the same tree")
    check = Check(parser.parse_args().cli)
    for page in PAGES:
        for line, command in commands(page):
            if OWN.match(command):
                check.command(f"{page.relative_to(ROOT)}:{line}", command)
    if check.seen < 100:
        check.problems.append(f"only {check.seen} commands were found in all pages")
    for problem in check.problems:
        print(problem, file=sys.stderr)
    print(f"commands: {check.seen} looked at, {len(check.problems)} problems")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
