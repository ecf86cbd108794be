#!/usr/bin/python3
"""Checks every include line against the layers and rooms of docs/architecture.md, and that no type is defined twice. Prints
each line that breaks a rule."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# What each library may include of ours, besides itself.
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "core": {"base", "model"},
    "codec": {"base", "model"},
    "cel": {"base", "model"},
    "devices": {"base", "model", "cel"},
    "net": {"base"},
    "kube": {"base", "model", "codec", "devices", "net"},
    "telemetry": {"base", "net", "kube"},  # the server that it answers on, and the permissions of its clients
    "sim": {"base", "model", "core", "codec", "net", "kube", "operator", "extender", "telemetry"},
    "replay": {"base", "model", "core"},
}
# The programs, which build on the libraries.
PROGRAMS = {
    "launch": set(),
    "operator": {"base", "model", "core", "codec", "net", "kube", "telemetry"},
    "extender": {"base", "model", "core", "codec", "devices", "net", "kube", "telemetry"},
    "agent": {"base", "model", "core", "codec", "net", "kube", "telemetry"},
    "cli": {"base", "model", "core", "codec", "net", "kube", "operator", "sim", "replay"},
}
# The rooms of core, lowest first: each may use those before it. src/core/ROOM.h is a room's face; what it does not
# include is the room's own.
ROOMS = ("network", "ledger", "lifecycle", "order", "queues", "resize", "planner", "place", "search", "timeline", "preemption", "gang", "guard", "status",
  "admission", "elastic", "schedule", "cycle", "forecast", "autoscaling")
# Further folders inside a library, lowest first, by the same rule.
FOLDERS = {"sim": ("api", "nodes", "scheduler", "workloads", "cluster"), "replay": ("traces", "engine", "papers")}
# Third-party headers of each library; in .cpp files only, except those everywhere allowed.
EVERYWHERE = ("fmt/", "tl/")
THIRD_PARTY = {
    "base": ("re2/",),
    "model": (),
    "core": (),
    "codec": ("nlohmann/", "simdjson.h", "yaml-cpp/"),
    "cel": ("re2/",),
    "devices": (),
    "net": ("boost/", "cpprest/", "openssl/", "pplx/"),
    "kube": (),
    "telemetry": ("prometheus/",),
    "sim": ("nlohmann/", "yaml-cpp/", "re2/"),
    "replay": (),
    "operator": ("CLI/",),
    "extender": ("CLI/",),
    "agent": ("CLI/", "netlink/", "net/"),
    "cli": ("CLI/", "nlohmann/", "re2/"),  # whole objects, shown and cleaned as they are
    "launch": ("mbedtls/",),  # one static file for any image
}
# Headers shared by the files of one part, included by no other part.
PRIVATE_HEADERS = ("cli/convert/conversion_notes.h", "cli/convert/draft.h", "cli/convert/failures.h", "cli/convert/role_drafts.h", "cli/convert/runtimes.h", "cli/convert/scheduler_marks.h", "cli/convert/scratch.h", "cli/convert/ssh_launch.h", "cli/convert/template.h", "cli/convert/value.h", "cli/convert/variables.h", "cli/convert/volcano_plugins.h", "cli/convert/volcano_policies.h", "cli/convert/volcano_tasks.h", "net/client_library.h", "net/client_send.h", "net/client_threads.h", "net/openssl.h", "net/server_connection.h", "net/server_core.h", "net/server_request_reader.h", "net/server_socket.h", "net/server_timer.h", "net/server_tls.h", "net/server_writer.h", "net/silence_timer.h", "sim/api/json.h")
# One place each (a file, or files of one prefix), because they take long to compile and are meant to be exchanged.
ONLY_IN = {"cpprest/": "net/client_*", "pplx/": "net/client_*", "netlink/": "agent/kernel_netlink.cpp", "mbedtls/": "launch/proofs.cpp"}
CORE_FORBIDS = {"thread", "mutex", "atomic", "condition_variable", "future", "iostream", "fstream", "random", "ctime"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def faces():
    """Of each room the headers that its face includes."""
    return {room: set(re.findall(r'#include "(core/[^"]+)"', (SRC / "core" / f"{room}.h").read_text())) for room in ROOMS}


FACES = faces()


def room_complaint(path, target):
    """Whether a header of core is another room's own, or of a room that this one may not use."""
    parts = target.split("/")
    room = parts[1].removesuffix(".h")
    inside = path.relative_to(ROOT).parts
    mine = inside[2].removesuffix(".h") if inside[:2] == ("src", "core") else None
    if room == mine:
        return None
    if room not in ROOMS:
        return "no room of core"
    if mine is not None and ROOMS.index(room) >= ROOMS.index(mine):
        return f"{mine} may not use {room}"
    if len(parts) > 2 and target not in FACES[room]:
        return f"not part of the face src/core/{room}.h"
    return None


def folder_complaint(path, library, target):
    folders = FOLDERS.get(library, ())
    parts, inside = target.split("/"), path.relative_to(SRC).parts if path.is_relative_to(SRC) else ()
    if len(parts) < 3 or len(inside) < 3 or parts[0] != library:
        return None
    if folders.index(parts[1]) > folders.index(inside[1]):
        return f"{inside[0]}/{inside[1]} may not use {parts[0]}/{parts[1]}"
    return None


def complaints(path, library):
    allowed = MAY_INCLUDE.get(library) or PROGRAMS.get(library) or set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        where = f"{path.relative_to(ROOT)}:{number}: {target}"
        if quoted:
            other = target.split("/")[0]
            if other != library and other not in allowed:
                yield f"{where}: {library} may not use {other}"
            elif other == "core" and (complaint := room_complaint(path, target)):
                yield f"{where}: {complaint}"
            elif library in FOLDERS and (complaint := folder_complaint(path, library, target)):
                yield f"{where}: {complaint}"
            continue
        if "/" not in target and target != "simdjson.h":
            if library == "core" and target in CORE_FORBIDS:
                yield f"{where}: core has no clock, randomness, thread or I/O"
            continue
        if target.startswith(("sys/", "netinet/", "arpa/")) or target.startswith(EVERYWHERE):
            continue
        if not target.startswith(THIRD_PARTY[library]):
            yield f"{where}: not a library that {library} may use"
        elif path.suffix == ".h" and str(path.relative_to(SRC if path.is_relative_to(SRC) else ROOT)) not in PRIVATE_HEADERS:
            yield f"{where}: third-party headers stay in .cpp files"
        for prefix, only in ONLY_IN.items():
            if target.startswith(prefix) and not fnmatch.fnmatch(str(path.relative_to(SRC if path.is_relative_to(SRC) else ROOT)), only):
                yield f"{where}: only {only} includes it"
    if library == "core" and re.search(r"(system|steady)_clock::now|std::rand|random_device", path.read_text()):
        yield f"{path.relative_to(ROOT)}: core has no clock and no randomness"


def defined_twice():
    """Types that two headers define in one namespace: the linker takes one destructor for both."""
    defined = {}
    for library in (*MAY_INCLUDE, *PROGRAMS):
        for path in sorted(((SRC if library in MAY_INCLUDE else ROOT) / library).rglob("*.h")):
            namespace = ""
            for line in path.read_text().splitlines():
                if match := re.match(r"namespace ([\w:]+) \{", line):
                    namespace = match.group(1)
                match = re.match(r"(?:class|struct|enum class) (?:\[\[nodiscard\]\] )?(\w+)(?: final)?(?: : [^;{]*)? \{", line)
                if match and defined.setdefault((namespace, match.group(1)), path) != path:
                    first = defined[namespace, match.group(1)].relative_to(ROOT)
                    yield f"{path.relative_to(ROOT)}: {namespace}::{match.group(1)}: {first} defines it, too"


def main():
    found = list(defined_twice())
    files = 0
    for library in (*MAY_INCLUDE, *PROGRAMS):
        for path in sorted(((SRC if library in MAY_INCLUDE else ROOT) / library).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                found += complaints(path, library)
    print("\n".join(found) or f"{files} files keep to their layers")
    return 1 if found else 0


sys.exit(main())
