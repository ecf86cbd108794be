#!/usr/bin/env python3
"""Checks the language of comments, names and pages: a job, pod, node or queue is "it", and programs do not talk.

usage: tests/language.py [FILE...]

Reads C++ comments and literals, comments and docstrings of scripts, scenarios with their names, the first lines of planted
bugs, and docs/*.md and README.md outside of code blocks. Prints each line with one of FORBIDDEN, unless ALLOWED names it. Exit code 1 if there is any, or if an entry of ALLOWED matches nothing.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORBIDDEN = re.compile(
    r"\b(whom|whoever|nobody|somebody|anybody|everybody|he|his|him|himself|tells?|told|strangers?|claimants?|contenders?|anew)\b", re.I)
# Part of the line, and why it stays.
ALLOWED = {
    '"nobody"': "the name of a user without rights, or of no holder of a Lease",
    "trainyard.dev-nobody": "the Lease's holder of that name",
    '"told-to-end"': "the name of a failure rule, which users see",
}
# By tools/, from descriptions in crds/ and help texts in the source.
GENERATED = {"docs/api.md", "docs/metrics.md"}
SCRIPT = re.compile(r"^\s*#(?!!)(.*)$")


def text_of_cpp(text):
    """(line, text) of all comments, and of literals."""
    token = re.compile(r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
    for found in token.finditer(text):
        if not found.group().startswith("'"):
            for offset, line in enumerate(found.group().split("\n")):
                yield text.count("\n", 0, found.start()) + 1 + offset, line


def comments_of_script(text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := SCRIPT.match(line):
            yield number, found.group(1)


def text_of_python(text):
    yield from comments_of_script(text)
    for found in re.finditer(r'"""(.*?)"""', text, re.S):
        for offset, line in enumerate(found.group(1).split("\n")):
            yield text.count("\n", 0, found.start()) + 1 + offset, line


def lines_of(text):
    return enumerate(text.splitlines(), 1)


def first_line_of(text):
    return [(1, text.partition("\n")[0])]


def prose_of_page(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def reader_of(path):
    if path.suffix in (".h", ".cpp"):
        return text_of_cpp
    if path.suffix == ".py":
        return text_of_python
    if path.name == "CMakeLists.txt" or path.suffix == ".yaml":
        return comments_of_script
    if path.suffix == ".patch":
        return first_line_of
    if path.suffix == ".scenario":
        return lines_of
    return prose_of_page if path.suffix == ".md" else None


def files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in listed if name and not name.startswith("tests/failures/") and name not in GENERATED]


def main():
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or files()
    used, problems = set(), 0
    for path in paths:
        read = reader_of(path)
        if read is None or path.name == "language.py" or not path.is_file():
            continue
        name = path.stem.replace("_", " ") if path.suffix == ".scenario" else ""
        for number, line in [(0, name), *read(path.read_text(errors="replace"))]:
            if path.suffix == ".md":  # pages name fields and texts as they are
                line = re.sub(r"`[^`]*`", "", line)
            words = FORBIDDEN.findall(line)
            allowed = [part for part in ALLOWED if part in line]
            used.update(allowed)
            if words and not allowed:
                problems += 1
                print(f"{path.relative_to(ROOT)}:{number}: {', '.join(words)}: {line.strip()[:120]}")
    if not sys.argv[1:]:
        for part in set(ALLOWED) - used:
            problems += 1
            print(f"ALLOWED has {part!r}, which no line has")
    print(f"language: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
