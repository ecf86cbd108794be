"""Secrets in what may be read by many: programs' logs, Events, ConfigMaps. Reports where and of which kind, never the secret.

    for line, kind in leaks.find(path.read_bytes()): ...
    leaks.hide(text)                                     # the same text without them, for messages of the tests themselves

Tokens and keys are recognized by their form. A secret that has none, such as a password, is not found.
"""
import base64
import json
import re
from pathlib import Path

# Encoded, as Secrets hold it; cut where the next letters of the code depend on what follows.
_KEYS = [f"-----BEGIN {word}PRIVATE KEY-----" for word in ("", "EC ", "RSA ", "OPENSSH ", "ENCRYPTED ")]
_ENCODED = [base64.b64encode(key[:len(key) // 3 * 3].encode()) for key in _KEYS]
_FORMS = {
    "token (JWT)": rb"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{16,}",
    "private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY|" + b"|".join(map(re.escape, _ENCODED)),
    "ssh key": rb"openssh-key-v1|" + re.escape(base64.b64encode(b"openssh-key")[:-2]),
    "bearer token": rb"[Bb]earer[ :=]+(?!eyJ)(?=[a-zA-Z.~+/_-]*\d)[\w.~+/-]{16,}=*",
}
_SEARCH = re.compile(b"|".join(b"(%s)" % form for form in _FORMS.values()))
# Each has one of these. Nearly all logs have none, which is seen ten times sooner.
_MARKS = [b"eyJ", b"PRIVATE KEY", b"openssh-key", b"earer", base64.b64encode(b"openssh-key")[:-2], *_ENCODED]


def find(text):
    """[(line, kind)] of bytes, lines counted from 1; one for each line and kind, in the order of the text."""
    if not any(mark in text for mark in _MARKS):
        return []
    found = {}
    line, counted = 1, 0
    for match in _SEARCH.finditer(text):
        line += text.count(b"\n", counted, match.start())
        counted = match.start()
        found[line, _kind(match)] = None
    return list(found)


def hide(text):
    return _SEARCH.sub(lambda match: b"(%s)" % _kind(match).encode(), text.encode()).decode()


def in_objects(cluster):
    """What Events and ConfigMaps have of it: a line for each."""
    said = []
    for kind, path in (("Event", "/apis/events.k8s.io/v1/events"), ("ConfigMap", "/api/v1/configmaps")):
        for item in cluster.api.list(path):
            where = f"{kind} {item['metadata']['namespace']}/{item['metadata']['name']}"
            said += [f"{where}: {what}" for what in sorted({what for _, what in find(json.dumps(item).encode())})]
    return said


def in_pods(cluster, namespace):
    """What pods of the namespace have logged that are on real nodes now, or were restarted there: a line for each."""
    said = []
    for path in logs_of_pods(cluster, namespace):
        where = f"{path.parent.parent.name.split('_')[1]}, {path.parent.name}, {path.name}"
        said += [f"{where}, line {line}: {kind}" for line, kind in find(path.read_bytes())]
    return said


def logs_of_pods(cluster, namespace):
    return sorted((cluster.dir / "nodes").glob(f"*/log/pods/{namespace}_*/*/*.log"))


class Watched:
    """The logs of Trainyard's programs of a cluster, each part of them looked at once."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._looked = {}  # path -> bytes, lines

    def more(self):
        """What has come since: "NAME, line N: KIND" for each."""
        said = []
        for name, record in self._cluster.processes().items():
            path = self._cluster.log(name)
            # Under whatever name a test has started them.
            if Path(record["argv"][0]).name.startswith("trainyard") and path.exists():
                said += [f"{name}, line {line}: {kind}" for line, kind in self._new(path)]
        return said

    def _new(self, path):
        size, lines = self._looked.get(path, (0, 0))
        with path.open("rb") as file:
            file.seek(size)
            text = file.read()
        # The last line may still be written.
        text = text[:text.rfind(b"\n") + 1]
        self._looked[path] = size + len(text), lines + text.count(b"\n")
        return [(lines + line, kind) for line, kind in find(text)]


def _kind(match):
    return list(_FORMS)[match.lastindex - 1]
