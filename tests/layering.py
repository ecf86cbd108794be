#!/usr/bin/python3
"""Checks the include lines of src/ against the layers of docs/architecture.md. Prints each line that breaks one."""

import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"

# What each library may include of ours, besides itself.
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "core": {"base", "model"},
    "codec": {"base", "model"},
    "net": {"base"},
    "kube": {"base", "model", "codec", "net"},
    "telemetry": {"base", "net"},  # net: the interface of the server it answers on
    "sim": {"base", "model", "core", "codec", "net", "kube", "operator", "extender", "telemetry"},
}
# Third-party headers of each library; in .cpp files only, except those everywhere allowed.
EVERYWHERE = ("fmt/", "tl/")
THIRD_PARTY = {
    "base": (),
    "model": (),
    "core": ("re2/",),
    "codec": ("nlohmann/", "simdjson.h", "yaml-cpp/", "openssl/"),
    "net": ("boost/", "cpprest/", "openssl/", "pplx/"),
    "kube": (),
    "telemetry": ("prometheus/",),
    "sim": ("nlohmann/", "yaml-cpp/", "re2/"),
}
# Headers shared by the files of one part, included by nobody else.
PRIVATE_HEADERS = ("sim/api_json.h", "net/server_connection.h", "net/server_core.h", "net/server_tls.h")
# One place each, because they take long to compile and are meant to be exchanged.
ONLY_IN = {"cpprest/": "net/client_cpprest.cpp"}
CORE_FORBIDS = {"thread", "mutex", "atomic", "condition_variable", "future", "iostream", "fstream", "random", "ctime"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def complaints(path, library):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        where = f"{path.relative_to(SRC.parent)}:{number}: {target}"
        if quoted:
            other = target.split("/")[0]
            if other != library and other not in MAY_INCLUDE[library]:
                yield f"{where}: {library} may not use {other}"
            continue
        if "/" not in target and target != "simdjson.h":
            if library == "core" and target in CORE_FORBIDS:
                yield f"{where}: core has no clock, randomness, thread or I/O"
            continue
        if target.startswith(("sys/", "netinet/", "arpa/")) or target.startswith(EVERYWHERE):
            continue
        if not target.startswith(THIRD_PARTY[library]):
            yield f"{where}: not a library that {library} may use"
        elif path.suffix == ".h" and str(path.relative_to(SRC)) not in PRIVATE_HEADERS:
            yield f"{where}: third-party headers stay in .cpp files"
        for prefix, only in ONLY_IN.items():
            if target.startswith(prefix) and str(path.relative_to(SRC)) != only:
                yield f"{where}: only {only} includes it"
    if library == "core" and re.search(r"(system|steady)_clock::now|std::rand|random_device", path.read_text()):
        yield f"{path.relative_to(SRC.parent)}: core has no clock and no randomness"


def main():
    found = []
    files = 0
    for library in MAY_INCLUDE:
        for path in sorted((SRC / library).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                found += complaints(path, library)
    print("\n".join(found) or f"{files} files keep to their layers")
    return 1 if found else 0


sys.exit(main())
