"""Writes of all programs, as the API server's audit log lists them.

    log = auditlog.AuditLog(cluster)      # a cluster brought up with audit=True
    ...
    for write in log.more(): ...          # those since the last call, or since the log was opened
"""
import json
from dataclasses import dataclass
from datetime import datetime

_READS = ("get", "list", "watch")
_ACCOUNT = "system:serviceaccount:"
_NODES = "kwok"
# What shows that a program lives, and questions that are asked by a creation.
_NO_CHANGE = ("leases", "subjectaccessreviews", "selfsubjectaccessreviews", "tokenreviews")


@dataclass(frozen=True)
class Write:
    """A request to change an object. time: of the answer, in Unix seconds. refused: the answer was an error."""
    program: str
    verb: str
    resource: str
    time: float
    refused: bool

    @property
    def event(self):
        return self.resource == "events"


class AuditLog:
    def __init__(self, cluster):
        self._path = cluster.dir / "audit.log"
        self._offset = self._path.stat().st_size

    def more(self):
        """The writes since, in order; without those of the simulated nodes, and without leases."""
        writes = []
        with open(self._path, "rb") as log:
            log.seek(self._offset)
            for line in log:
                if not line.endswith(b"\n"):
                    break  # written by half
                self._offset += len(line)
                if write := _decoded(json.loads(line)):
                    writes.append(write)
        return writes


def _decoded(entry):
    program, what = _program(entry), entry.get("objectRef", {})
    if entry["verb"] in _READS or program == _NODES or what.get("resource") in _NO_CHANGE:
        return None
    resource = "/".join(filter(None, (what.get("resource"), what.get("subresource"))))
    return Write(program, entry["verb"], resource, datetime.fromisoformat(entry["stageTimestamp"]).timestamp(),
                 entry.get("responseStatus", {}).get("code", 0) >= 400)


def _program(entry):
    """The name of a program's account, or of what it reports as its own where programs share one."""
    user = entry["user"]["username"]
    if user.startswith(_ACCOUNT):
        return user.rpartition(":")[2]
    if user.startswith("system:kube-"):
        return user.removeprefix("system:")
    name = entry.get("userAgent", "").partition("/")[0]
    return _NODES if user == _NODES else name or user
