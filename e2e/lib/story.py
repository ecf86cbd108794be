"""Prints, line by line, what happens to training jobs while they are watched."""
import sys
import threading
import time
from collections import Counter

from .script import EXPECT

JOB_LABEL = "trainyard.dev/job-name"
RACK_LABEL = "cloud.provider.com/topology-rack"
ENDED = ("Succeeded", "Failed")

# A waiting job's message moves with every estimate; this is how often it is worth a line.
_MESSAGE_SECONDS = 3

_COLOURS = {"Running": "36", "Succeeded": "32", "Failed": "31", "Queued": "33", "Pending": "33",
            "Restarting": "35"}


class Job:
    """What is known of one job."""

    def __init__(self, obj):
        self.name = obj["metadata"]["name"]
        self.expected = obj["metadata"].get("annotations", {}).get(EXPECT)
        self.submitted = None
        self.phase = None
        self.waits = None               # last reason and message of its wait, and when they were printed
        self.waits_reported = 0.0
        self.waited_for = None          # last reason ever, for the summary
        self.running_since = None
        self.ended = None
        self.pods = {}                  # name -> (node, phase)
        self.place = ""
        self.first_pod = None
        self.least_pods = least_pods(obj["spec"])

    def settled(self):
        return self.phase in ENDED or (self.expected not in ENDED and self.phase == self.expected)

    def as_expected(self):
        return self.phase == self.expected


class Story:
    """Feed it watch events through on_job and on_pod; it prints what is new. Thread-safe."""

    def __init__(self, racks, colours, out=sys.stdout):
        self._racks = racks             # node -> rack
        self._colours = colours
        self._out = out
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self.jobs = {}

    def elapsed(self):
        return time.monotonic() - self._start

    def report(self, subject, text, colour=None):
        line = f"{self.elapsed():7.1f}s  {subject:<19} {text}"
        if self._colours and colour:
            line = f"\033[{colour}m{line}\033[0m"
        print(line, file=self._out, flush=True)

    def submitted(self, obj, source):
        with self._lock:
            job = self.jobs[obj["metadata"]["name"]] = Job(obj)
            job.submitted = self.elapsed()
            self.report(job.name, f"submitted from {source}: {shape(obj['spec'])}", "1")

    def on_job(self, kind, obj):
        with self._lock:
            job = self.jobs.get(obj["metadata"]["name"])
            if job is None or job.ended is not None:
                return
            if kind == "DELETED":
                self.report(job.name, "deleted", "31")
                return
            status = obj.get("status", {})
            self._refused(job, status)
            self._waits(job, status.get("pending") or {})
            phase = status.get("phase")
            if phase and phase != job.phase:
                job.phase = phase
                self._phase(job, status)

    def on_pod(self, kind, obj):
        with self._lock:
            job = self.jobs.get(obj["metadata"].get("labels", {}).get(JOB_LABEL))
            if job is None:
                return
            if kind == "DELETED":
                job.pods.pop(obj["metadata"]["name"], None)
                return
            node, phase = obj["spec"].get("nodeName"), obj["status"].get("phase")
            known = job.pods.get(obj["metadata"]["name"])
            job.pods[obj["metadata"]["name"]] = (node, phase)
            if node and (known is None or known[0] is None):
                self._bound(job)

    def _bound(self, job):
        nodes = [node for node, _ in job.pods.values()]
        if job.first_pod is None:
            job.first_pod = self.elapsed()
        if None not in nodes and len(nodes) >= job.least_pods:
            job.place = place(nodes, self._racks)
            together = self.elapsed() - job.first_pod
            self.report(job.name, f"placed: {len(nodes)} pod{'s' * (len(nodes) > 1)} on {job.place}"
                      + (f", all within {together:.1f} s" if len(nodes) > 1 else ""))
            job.first_pod = None

    def _refused(self, job, status):
        for condition in status.get("conditions", []):
            if condition["type"] == "Admitted" and condition["status"] == "False":
                self._say_waits(job, condition["reason"], condition["message"], "not admitted")

    def _waits(self, job, pending):
        if pending.get("reason") or pending.get("message"):
            self._say_waits(job, pending.get("reason", ""), pending.get("message", ""), "waits")

    def _say_waits(self, job, reason, message, verb):
        job.waited_for = reason
        if job.waits == (reason, message):
            return
        if job.waits and job.waits[0] == reason and self.elapsed() - job.waits_reported < _MESSAGE_SECONDS:
            return
        job.waits, job.waits_reported = (reason, message), self.elapsed()
        self.report(job.name, f"{verb} ({reason}): {message}", "33")

    def _phase(self, job, status):
        text = job.phase
        if job.phase == "Running":
            if job.running_since is None:
                job.running_since = self.elapsed()
            text += f" on {job.place}" if job.place else ""
        elif job.phase in ENDED:
            job.ended = self.elapsed()
            text += "" if job.as_expected() else f", but {job.expected} was expected"
            failure = status.get("lastFailure") or {}
            if failure.get("message"):
                text += f" ({failure.get('class', 'unclassified')}: {failure['message']})"
        colour = _COLOURS.get(job.phase)
        if job.phase == "Failed" and job.as_expected():
            text, colour = text + ", as this example should", "32"
        self.report(job.name, text, colour)

    def summary(self):
        """A table of all jobs; True when every one ended as its example says."""
        print(f"\n{'JOB':<20}{'SHOULD BE':<11}{'IS':<11}{'WAITED':>8}{'RAN':>8}  PLACE", file=self._out)
        for job in self.jobs.values():
            ran = waited = "-"
            if job.running_since is not None:
                waited = f"{job.running_since - job.submitted:.1f}s"
                ran = f"{job.ended - job.running_since:.1f}s" if job.ended else "-"
            mark = "" if job.as_expected() else "   <-- NOT AS EXPECTED"
            print(f"{job.name:<20}{job.expected:<11}{job.phase or 'no phase':<11}{waited:>8}{ran:>8}  "
                  f"{job.place or '-'}{mark}", file=self._out)
            if mark and job.waits:
                print(f"    last reason: {job.waits[0]}: {job.waits[1]}", file=self._out)
        return all(job.as_expected() for job in self.jobs.values())


def shape(spec):
    """What a job asks for, in a few words."""
    elastic, gpus, parts = spec.get("elastic") or {}, 0, []
    for role in spec["roles"]:
        count = role.get("replicas", 1)
        each = sum(_gpus(container) for container in role["template"]["spec"]["containers"])
        if role["name"] == elastic.get("role"):
            count = elastic.get("replicas", count)
            limits = f" (elastic {elastic.get('minReplicas')}-{elastic.get('maxReplicas')})"
        else:
            limits = ""
        gpus += count * each
        parts.append(f"{count} {role['name']} x {each} GPU{'s' * (each != 1)}{limits}")
    return f"{spec['framework']}, {', '.join(parts)} = {gpus} GPU{'s' * (gpus != 1)}"


def least_pods(spec):
    """The smallest number of pods the job starts with."""
    elastic = spec.get("elastic") or {}
    whole = sum(elastic.get("minReplicas", role.get("replicas", 1)) if role["name"] == elastic.get("role")
                else role.get("replicas", 1) for role in spec["roles"])
    return (spec.get("gang") or {}).get("minAvailable", whole)


def _gpus(container):
    resources = container.get("resources", {})
    return int({**resources.get("requests", {}), **resources.get("limits", {})}.get("nvidia.com/gpu", 0))


def place(nodes, racks):
    """Nodes by rack: 'rack r0: n0000 n0001; rack r1: n0004 x2', or only how many where there are many."""
    by_rack = {}
    for node, count in sorted(Counter(nodes).items()):
        by_rack.setdefault(racks.get(node, "?"), []).append(node if count == 1 else f"{node} x{count}")
    distinct = len(set(nodes))
    if distinct <= 6:
        return "; ".join(f"rack {rack}: {' '.join(names)}" for rack, names in by_rack.items())
    return f"{distinct} nodes in {len(by_rack)} rack{'s' * (len(by_rack) > 1)} ({' '.join(by_rack)})"
