#!/usr/bin/env python3
"""Checks the language of comments, names and pages: a job, pod, node or queue is "it", programs do not talk, and comments name what exists.

usage: tests/language.py [FILE...]

Reads C++ comments and literals, comments and docstrings of scripts, scenarios with their names, the first lines of planted
bugs, and docs/*.md and README.md outside of code blocks. Prints each line with one of FORBIDDEN, unless ALLOWED names it,
and each function() that a C++ comment names and no C++ file has, unless FOREIGN names it. Exit code 1 if there is any, or if
an entry of ALLOWED or FOREIGN matches nothing.
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
# Functions of others that comments name.
FOREIGN = {"Compute", "initialize"}
# By tools/, from descriptions in crds/ and help texts in the source.
GENERATED = {"docs/api.md", "docs/metrics.md"}
TOKEN = re.compile(
    r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
SCRIPT = re.compile(r"^\s*#(?!!)(.*)$")


def text_of_cpp(text):
    """(line, text) of all comments, and of literals."""
    for found in TOKEN.finditer(text):
        if not found.group().startswith("'"):
            for offset, line in enumerate(found.group().split("\n")):
                yield text.count("\n", 0, found.start()) + 1 + offset, line


def functions_of_cpp(text):
    """The names that code calls or declares, and (line, name) of those that comments name."""
    named = [(text.count("\n", 0, comment.start() + call.start()) + 1, call.group(1))
             for comment in TOKEN.finditer(text) if comment.group().startswith("/")
             for call in re.finditer(r"(\w+)\(\)", comment.group())]
    return set(re.findall(r"\w+(?=\s*\()", TOKEN.sub(" ", text))), named


def unknown_functions(paths):
    """(path, line, name) of each function that a comment of `paths` names and no file of the tree has; and all that are named."""
    known, named = set(), []
    for path in files():
        if path.suffix in (".h", ".cpp") and path.is_file():
            called, comments = functions_of_cpp(path.read_text(errors="replace"))
            known |= called
            named += [(path, line, name) for line, name in comments]
    return [each for each in named if each[0] in paths and each[2] not in known], {name for _, _, name in named}


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
    unknown, named = unknown_functions(set(paths))
    for path, line, name in unknown:
        if name not in FOREIGN:
            problems += 1
            print(f"{path.relative_to(ROOT)}:{line}: a comment names {name}(), which does not exist")
    if not sys.argv[1:]:
        for part in set(ALLOWED) - used:
            problems += 1
            print(f"ALLOWED has {part!r}, which no line has")
        for name in FOREIGN - named:
            problems += 1
            print(f"FOREIGN has {name!r}, which no comment names")
    print(f"language: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
