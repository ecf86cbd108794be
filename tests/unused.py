#!/usr/bin/env python3
"""Finds declarations of headers that no program uses: functions, methods, classes, enumerators, constants, aliases, members.

usage: tests/unused.py [--all]
    --all: print what ALLOWED has, too

Names decide, not types. A name is used where it stands outside of its declarations and definitions, in a file that includes
its header; a private one, inside of its class. Uses inside of what is itself unused do not count. Prints each name that is
unused, or used by tests only, unless ALLOWED has it. Exit code 1 if there is any, or if such an entry matches nothing.
"""
import pathlib
import re
import sys
from collections import defaultdict, namedtuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ("src", "operator", "extender", "agent", "launch", "cli")
# Used by tests only, and why it stays. A folder stands for all in it.
ALLOWED = {
    "src/base/rng.h: Rng::chance": "the draws of tests, beside the other draws",
    "src/sim/": "the cluster of the tests, and of the sandbox",
    "src/base/virtual_loop.h: VirtualLoop::idle": "the tests' clock",
    "src/base/virtual_loop.h: VirtualLoop::runFor": "the tests' clock",
    "src/base/virtual_loop.h: VirtualLoop::runUntilTrue": "the tests' clock",
    "src/kube/events.h: EventRecorder::dropped": "a log line is the only other sign of a lost Event",
    "src/replay/papers/tensorlights.h: TensorLightsResult::packets": "a test checks that none is lost or sent twice",
    "operator/console/console.h: Console::streams": "a test checks that streams of clients that have left are dropped",
    "extender/cluster_watch.h: ClusterWatch::published": "a test checks that no view is published too early",
}
# Called by the language or by templates: ranges, iterators, hashes, standard concepts.
IMPLICIT = {"begin", "end", "size", "data", "empty", "value_type", "iterator", "const_iterator", "difference_type", "reference",
            "pointer", "iterator_category", "iterator_concept", "is_transparent", "is_avalanching", "hash", "formatter", "to_json",
            "from_json", "format_as", "is_steady", "showValue", "main"}
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|&&|[<>=!]=|[^\w\s]|\d[\w.']*")
SKIPPED = re.compile(
    r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
KEYWORDS = set("alignas auto bool char const constexpr decltype double explicit float int long noexcept operator requires return "
               "short signed sizeof static template this throw typename unsigned void volatile".split())
CLASSES = {"class", "struct", "union", "enum"}
OPEN, CLOSE = set("([{"), set(")]}")
FUNCTION_BEFORE = set("(<,);}")  # what follows a function's name where it is called or passed
# Of a declaration: `scopes` are the classes around it; `owners` of a use also has the functions and members around it.
Declared = namedtuple("Declared", "name path line kind scopes private")
Use = namedtuple("Use", "name path owners before after qualifier")


class Reader:
    """Divides a file into what it declares and the names that it uses."""

    def __init__(self, path):
        self.path, self.declared, self.uses, self.friendly, self.compared, self.forward = path, [], [], set(), set(), []
        text = SKIPPED.sub(lambda found: re.sub(r"[^\n]+", " ", found.group()) or " ", path.read_text())
        self.includes = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)
        directives = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.M)
        for name in re.findall(r"[A-Za-z_]\w*", " ".join(directives.findall(text))):
            self.uses.append(Use(name, path, (), "", "(", ""))
        text = directives.sub(lambda found: "\n" * found.group().count("\n"), text)
        self.tokens, line, at = [], 1, 0
        for found in TOKEN.finditer(text):
            line, at = line + text.count("\n", at, found.start()), found.start()
            self.tokens.append((found.group(), line))
        self.block(0, (), False)

    def word(self, at):
        return self.tokens[at][0] if 0 <= at < len(self.tokens) else ""

    def after(self, at):
        """The place behind the bracket that closes the one at `at`."""
        depth = 0
        while at < len(self.tokens):
            depth += (self.word(at) in OPEN) - (self.word(at) in CLOSE)
            at += 1
            if depth <= 0:
                break
        return at

    def use(self, begin, end, owners, skip=()):
        for at in range(begin, end):
            if at not in skip and self.word(at)[0].isidentifier():
                qualifier = self.word(at - 2) if self.word(at - 1) == "::" else ""
                self.uses.append(Use(self.word(at), self.path, owners, self.word(at - 1), self.word(at + 1), qualifier))

    def add(self, at, kind, scopes, private):
        self.declared.append(Declared(self.word(at), self.path, self.tokens[at][1], kind, scopes, private))

    def block(self, at, scopes, private):
        """A namespace's or class's statements, up to its closing brace."""
        while at < len(self.tokens) and self.word(at) != "}":
            if self.word(at) in ("public", "private", "protected") and self.word(at + 1) == ":":
                private = self.word(at) == "private"
                at += 2
            else:
                at = self.statement(at, scopes, private)
        return at + 1

    def template(self, at):
        """The place behind `template <...>`."""
        while self.word(at) == "template" and self.word(at + 1) == "<":
            depth, at = 1, at + 2
            while depth and at < len(self.tokens):
                depth += (self.word(at) == "<") - (self.word(at) == ">")
                at += 1
        return at

    def statement(self, begin, scopes, private):
        first = self.template(begin)
        while self.word(first) == "[" or self.word(first) in ("inline", "typedef"):
            first = self.after(first) if self.word(first) == "[" else first + 1
        word = self.word(first)
        if word in ("namespace", "extern"):
            at = first
            while self.word(at) not in ("{", ";", "="):
                at += 1
            if self.word(at) == "{":
                return self.block(at + 1, scopes, False)
        if word in CLASSES and (at := self.type(begin, first, scopes, private)):
            return at
        return self.declaration(begin, first, scopes, private)

    def type(self, begin, first, scopes, private):
        """A class or enum; nothing if the keyword only begins a declaration."""
        at = first + 1
        while self.word(at) in CLASSES or self.word(at) == "[":
            at = self.after(at) if self.word(at) == "[" else at + 1
        name, outer = at, ()
        while self.word(name + 1) == "::":
            outer, name = (*outer, self.word(name)), name + 2
        at = name
        while self.word(at) not in ("{", ";", "(", "="):
            at += 1
        if self.word(at) == ";" and self.word(name + 1) in (";", ":"):
            if not scopes:
                self.forward.append((self.word(name), self.tokens[name][1]))
            return at + 1
        if self.word(at) != "{":
            return None
        scopes, inner = (*scopes, *outer), (*scopes, *outer, self.word(name))
        self.use(begin, at, inner, range(first, name + 1))
        special = self.word(name + 1) == "<"
        if self.word(name) in ("{", ":") or self.word(first) == "enum" and first + 1 == name:  # values without a type of their own
            inner = scopes
        elif not special:
            self.add(name, "type", scopes, private)
        if self.word(first) == "enum":
            end, at = self.after(at), at + 1
            while at < end - 1:
                self.add(at, "enumerator", inner, False)
                value = at + 1
                while at < end - 1 and self.word(at) != ",":
                    at = self.after(at) if self.word(at) in OPEN else at + 1
                self.use(value, at, inner)
                at += 1
            at = end
        else:
            known = len(self.declared)
            at = self.block(at + 1, inner, self.word(first) == "class")
            if special:  # of a template: what it declares is used through the template
                del self.declared[known:]
        return at + 1 if self.word(at) == ";" else self.declaration(at, at, scopes, private)

    def declaration(self, begin, first, scopes, private):
        """A function, variable or alias: its names are those before the first bracket, `=`, `:`, `,` or the end."""
        names, kind, at, angle, initializers, body, operator = [], None, first, 0, False, None, None
        if self.word(first) in ("using", "friend", "static_assert", "requires"):
            if self.word(first) == "using" and self.word(first + 2) == "=":
                names, kind = [first + 1], "alias"
            elif self.word(first) == "friend":
                self.friendly.update(scopes)
                self.compared.update(scopes if "operator" in (self.word(place) for place in range(first, first + 4)) else ())
            kind = kind or "none"
        while at < len(self.tokens) and self.word(at) not in (";", "}"):
            word, before = self.word(at), self.word(at - 1)
            if word == "operator" and not kind:
                kind, operator = "none", at
                if "default" in (self.word(place) for place in range(at, at + 20)):
                    self.compared.update(scopes)
            elif word in "<>" and not kind:
                angle += 1 if word == "<" else -1
            elif not kind and not angle and word in ("(", "{", "=", ":", "[", ",") and before.isidentifier() and before not in KEYWORDS:
                names.append(at - 1)
                kind = "function" if word == "(" else None if word == "," else "member"
            elif word == "," and kind == "member" and not angle and not initializers and self.word(at + 2) in (",", "=", ";", "{"):
                names.append(at + 1)
            if word == ":" and self.word(at - 1) in (")", "noexcept") and kind in ("function", "none"):
                initializers = True
            if word == "{" and kind in ("function", "none") and not (initializers and (before.isidentifier() or before == ">")):
                body = at
                break
            at = self.after(at) if word in OPEN else at + 1
        if not kind and self.word(at - 1).isidentifier() and at - 1 > first:
            names.append(at - 1)
            kind = "member"
        end = self.after(at) if body else at + (self.word(at) == ";")
        words = {self.word(place) for place in range(begin, body or end)}
        skip, owners = set(names), scopes
        for name in [*names, operator] if operator else names:
            place, outer = name, ()
            while self.word(place - 1) == "::" and self.word(place - 2).isidentifier():
                place -= 2
                outer = (self.word(place), *outer)
                skip.add(place)
            if name == operator or self.word(name - 1) == "~" or (scopes + outer)[-1:] == (self.word(name),):
                owners = (*scopes, *outer)
            else:
                owners = (*scopes, *outer, self.word(name))
                overrides = words & {"override", "operator"}
                self.add(name, "override" if overrides else kind, (*scopes, *outer), private)
        self.use(begin, end, owners, skip)
        return max(end, begin + 1)


def files(folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp")]


def closures(readers):
    """Of each file, all that it includes, itself among them."""
    def find(path, name):
        return next((base / name for base in (ROOT / "src", ROOT, path.parent, ROOT / "tests") if base / name in readers), None)

    direct = {path: {found for name in reader.includes if (found := find(path, name))} for path, reader in readers.items()}
    reached = {}
    for path in readers:
        seen, todo = {path}, [path]
        while todo:
            for other in direct[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        reached[path] = seen
    return reached


def key(entity):
    return (*entity.scopes, entity.name)


class Search:
    """The names of `entities` that files do not use. Overloads in a header are one."""

    def __init__(self, entities, readers):
        self.readers, self.reached = readers, closures(readers)
        self.friendly = set().union(*(reader.friendly for reader in readers.values()))
        self.groups, self.members = defaultdict(list), defaultdict(set)
        for entity in entities:
            self.groups[entity.path, key(entity)].append(entity)
        for reader in readers.values():
            for each in reader.declared:
                self.members[each.scopes[-1:]].add(each.name)

    def counts(self, use, entity, dead):
        around = {use.owners[:length] for length in range(1, len(use.owners) + 1)}
        if key(entity) in around or around & dead:
            return False
        if entity.kind != "type" and entity.path not in self.reached[use.path]:
            return False
        if entity.private and not set(entity.scopes) & self.friendly:
            return entity.scopes[-1] in use.owners
        if entity.kind == "function" and use.after not in FUNCTION_BEFORE and use.before != "?":
            return False  # a variable of that name
        if entity.kind == "member" and use.before in (".", "->") and use.after == "=":
            return False  # written, not read
        if entity.kind in ("function", "member") and not self.may_name(use, entity):
            return False
        # Another class's member of that name.
        return use.qualifier in ("", *entity.scopes[-1:]) or entity.name not in self.members[use.qualifier,]

    def may_name(self, use, entity):
        """False if the use needs an object and has none, or if it is inside of a class with a member of that name."""
        if use.before in (".", "->"):
            return bool(entity.scopes)
        if use.before in ("[", ",") and use.after in (",", "]"):
            return True  # a structured binding, perhaps
        if use.before == "::" or not entity.scopes or {entity.scopes[-1], "TEST_CASE_METHOD"} & set(use.owners):
            return True
        classes = [name for name in use.owners if (name,) in self.members]
        return bool(classes) and not any(entity.name in self.members[name,] for name in classes)

    def unused(self, among):
        """Groups without a use in the files `among`. What only they use is unused, too."""
        uses, dead, fallen = defaultdict(set), set(), True
        for path in among:
            for use in self.readers[path].uses:
                uses[use.name].add(use)
        while fallen:
            gone = {key(each) for group in dead for each in self.groups[group]}
            gone -= {key(each) for group in self.groups.keys() - dead for each in self.groups[group]}
            fallen = {name for name, group in self.groups.items() if name not in dead
                      and not any(self.counts(use, each, gone) for each in group for use in uses[each.name])}
            dead |= fallen
        return dead


def findings(programs, tests):
    """Per "path: name" a line about it, and whether tests use it."""
    readers = {path: Reader(path) for path in programs + tests}
    compared = set().union(*(reader.compared for reader in readers.values()))
    entities = [each for path, reader in readers.items() if path.suffix == ".h" for each in reader.declared
                if each.kind not in ("override", "none") and each.name not in IMPLICIT
                and not (each.kind == "member" and set(each.scopes[-1:]) & compared)]
    search = Search(entities, readers)
    nowhere, by_programs = search.unused(readers), search.unused(programs)
    found = {}
    for each in entities:
        tested = (each.path, key(each)) not in nowhere
        dead = by_programs if tested else nowhere
        if (each.path, key(each)) in dead and (each.path, each.scopes) not in dead and not (tested and each.path in tests):
            name = "::".join(key(each))
            what = f"{each.kind} {name} is {'used by tests only' if tested else 'unused'}"
            found.setdefault(f"{each.path.relative_to(ROOT)}: {name}", (f"{each.path.relative_to(ROOT)}:{each.line}: {what}", tested))
    for path, reader in readers.items():
        for name, line in reader.forward:
            if path.suffix == ".h" and name not in {use.name for use in reader.uses}:
                where = path.relative_to(ROOT)
                found[f"{where}: {name}"] = (f"{where}:{line}: forward declaration of {name} is unused", False)
    return found


def main():
    found, used, problems = findings(files(PROGRAMS), files(("tests",))), set(), []
    for name, (line, tested) in found.items():
        entries = {entry for entry in ALLOWED if tested and (name == entry or entry.endswith("/") and name.startswith(entry))}
        used |= entries
        if not entries or "--all" in sys.argv:
            problems.append(line)
    problems += [f"ALLOWED has {entry}, to which nothing fits" for entry in sorted(ALLOWED.keys() - used)]
    print("\n".join([*problems, f"unused: {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
