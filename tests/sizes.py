#!/usr/bin/env python3
"""Measures classes, rooms of the core and files. Prints each that is larger than it may be. Exit code 1 if there is any.

usage: tests/sizes.py [--all]   (--all: the largest of each, too)

What is larger today stands in LARGER with its size; an entry that has become smaller has to be corrected, so sizes only go down.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METHODS, MEMBERS, ROOM_LINES, FILE_LINES = 25, 12, 4000, 400
PROGRAMS = ("src", "operator", "extender", "agent", "launch", "cli")
# Name: methods, members of a class; lines of a room or file. Structs of data (at most 5 methods) are not counted.
LARGER = {
}
CLASS = re.compile(r"\b(class|struct)\s+(?:\[\[nodiscard\]\]\s*)?([\w:]+)\s*(?:final\s*)?(?::[^;{]*)?\{")


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def body_from(text, begin):
    depth, end = 1, begin
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[begin:end - 1]


def statements_of(body):
    """The declarations of a class, without what is inside braces and parentheses."""
    depth, current = 0, ""
    for char in body:
        if char in "{(":
            depth += 1
        if depth == 0 or (depth == 1 and char in "{("):
            current += char
        if char in "})":
            depth -= 1
            if depth == 0:
                current += char
                if char == "}" and "(" in current and not re.search(r"=\s*\{\}?$", current):
                    yield current
                    current = ""
        elif char == ";" and depth == 0:
            yield current
            current = ""


def size_of(body):
    methods = members = 0
    for statement in statements_of(body):
        text = re.sub(r"\b(public|private|protected)\s*:", "", statement).strip()
        skipped = ("using", "friend", "enum", "class", "struct", "static constexpr", "static_assert")
        if not text or text.startswith(skipped) or "= delete" in text:
            continue
        is_callback = "std::function<" in text and re.search(r">\s*\w+_?\s*(=.*|\{.*)?;?$", text)
        if "(" in text and not is_callback and not re.search(r"\w+_\s*[={]", text.split("(")[0]):
            methods += 1
        else:
            members += 1
    return methods, members


def sizes():
    """(name, size, bound) of all that is measured; sizes are tuples."""
    for folder in PROGRAMS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            text = path.read_text(encoding="utf-8")
            name = str(path.relative_to(ROOT))
            yield name, (text.count("\n"),), (FILE_LINES,)
            text = without_comments(text)
            for found in CLASS.finditer(text):
                if re.search(r"enum\s+$", text[:found.start()]):
                    continue
                methods, members = size_of(body_from(text, found.end()))
                if found.group(1) == "class" or methods > 5:
                    yield f"{name} {found.group(2)}", (methods, members), (METHODS, MEMBERS)
    for room in sorted(path for path in (ROOT / "src/core").iterdir() if path.is_dir()):
        lines = sum(path.read_text(encoding="utf-8").count("\n") for path in room.rglob("*") if path.suffix in (".h", ".cpp"))
        yield str(room.relative_to(ROOT)), (lines,), (ROOM_LINES,)


def main():
    problems, seen = [], {}
    for name, size, bound in sizes():
        known = LARGER.get(name)
        seen[name] = size
        if known is None and any(have > most for have, most in zip(size, bound)):
            problems.append(f"{name}: {size} is larger than {bound}")
        elif known is not None and any(have > most for have, most in zip(size, known)):
            problems.append(f"{name}: {size} has grown from {known}")
        elif known is not None and size != known:
            problems.append(f"{name}: {size} is smaller than {known} now; correct LARGER")
        elif known is not None and all(have <= most for have, most in zip(size, bound)):
            problems.append(f"{name}: {size} needs no entry in LARGER")
    problems += [f"{name}: in LARGER, but nothing has that name" for name in LARGER if name not in seen]
    print("\n".join(problems) or f"sizes: {len(seen)} measured, {len(LARGER)} larger than they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
