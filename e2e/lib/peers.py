"""The same JobSet, and the same Jobs, under Trainyard, Kueue and KAI Scheduler: what tools/bench measures as `peers`.

    sides = peers.sides(rig, ["Kueue"], peers.EQUAL)    # a measure.Rig with audit and KINDS; the limits of clients
    sides["Kueue"].start()
    result = peers.measure(rig, sides["Kueue"], peers.job_set(512))

All sides share etcd, API server, kube-scheduler, kube-controller-manager, the JobSet controller and the nodes. The programs
of a side run only while that side is measured.
"""
import collections
import copy
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import yaml

from . import auditlog, controllers, helm, kai, kwok, tools, trainyard
from .api import ApiError

KINDS = ("Job", "JobSet")
RUN_LABEL = "bench.trainyard.dev/run"
# The widest domain first.
LEVELS = ("topology.kubernetes.io/zone", "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack",
          "kubernetes.io/hostname")
PREFERRED = LEVELS[2]
GPU = "nvidia.com/gpu"
_SECONDS = 600
_DELETERS = 8
_QUIET_SECONDS, _SETTLE_SECONDS = 2, 120
_EVERYTHING = "1000000"
_JOBS, _JOB_SETS = "/apis/batch/v1/namespaces/default/jobs", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
_DELETED = _JOB_SETS, _JOBS, "/api/v1/namespaces/default/pods"
# What the controllers delete with these.
_LEFT = (*_DELETED, "/apis/trainyard.dev/v1alpha1/namespaces/default/gangs",
         "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads",
         "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups",
         "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests")


@dataclass(frozen=True)
class Limits:
    """Requests per second that clients allow themselves; None: each program's own default."""
    qps: int = None
    burst: int = None

    @property
    def connection(self):
        """The section of the configuration files of JobSet and Kueue."""
        return {"clientConnection": {"qps": self.qps, "burst": self.burst}} if self.qps else {}

    @property
    def arguments(self):
        return (f"--qps={self.qps}", f"--burst={self.burst}") if self.qps else ()


# Those of kube-scheduler in these clusters.
EQUAL, OWN = Limits(1000, 2000), Limits()


@dataclass
class Work:
    """`count` objects with `pods` pods each."""
    title: str
    path: str
    count: int
    pods: int
    body: dict
    topology: bool = False

    @property
    def metadata(self):
        return self.body["metadata"]

    @property
    def template(self):
        spec = self.body["spec"]
        if "replicatedJobs" in spec:
            spec = spec["replicatedJobs"][0]["template"]["spec"]
        return spec["template"]


def job_set(pods):
    """One JobSet of 8 Jobs, or as many as there are pods: 8 GPUs a pod, all pods close to each other."""
    jobs = min(8, pods)
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "@NAME@"}, "spec": {
        "replicatedJobs": [{"name": "workers", "replicas": jobs, "template": {"spec": _job(pods // jobs, 8)}}]}}
    return Work(f"a JobSet of {pods} pods x 8 GPUs", _JOB_SETS, 1, pods // jobs * jobs, body, topology=True)


def jobs(count):
    """Jobs of one pod with one GPU."""
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "@NAME@"}, "spec": _job(1, 1)}
    return Work(f"{count:,} Jobs of one pod with one GPU", _JOBS, count, 1, body)


def _job(pods, gpus):
    container = {"name": "train", "image": "registry.example.com/train:1", "command": ["python", "train.py"],
                 "resources": {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {GPU: gpus}}}
    return {"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0, "template": {
        "metadata": {"labels": {RUN_LABEL: "@RUN@"}}, "spec": {"restartPolicy": "Never", "containers": [container]}}}


class Side:
    """programs: its own, which no other side runs. tool: what they are built from (lib/tools.py)."""
    programs = ()
    tool = None

    def __init__(self, rig, limits):
        self._rig = rig
        self._cluster = rig.cluster
        self._limits = limits

    def start(self):
        """Starts its programs; returns when a Job and a JobSet have run through them."""
        raise NotImplementedError

    def stop(self):
        raise NotImplementedError

    def mark(self, work):
        """Adds to the object what a user of this side writes."""
        raise NotImplementedError

    def _warm_up(self):
        for work in (jobs(2), job_set(2)):
            load(self._rig, self, work, warm_up=True)
        clear(self._cluster)


class Trainyard(Side):
    programs = (trainyard.OPERATOR, trainyard.EXTENDER)

    def start(self):
        self._rig.start_trainyard()
        self._policies("apply", "--server-side", "--field-manager=e2e")
        self._warm_up()

    def stop(self):
        self._policies("delete")
        self._rig.leave_bare()

    def _policies(self, *verb):
        """The chart's admission policies: no other side's objects pass through them."""
        text = helm.template(self._cluster.tools["helm"], {"workloads": {"kinds": list(KINDS)}},
                             only=("admission-policies", "admission-workloads"),
                             kinds=["admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"])
        self._cluster.kubectl(*verb, "-f", "-", input=text)
        names = [item["metadata"]["name"] for item in yaml.safe_load_all(text)
                 if item and item["kind"] == "ValidatingAdmissionPolicy"]
        if verb[0] == "apply":
            kwok.poll(lambda: all(self._checked(name) for name in names), 60, lambda: "policies are not checked yet")
        time.sleep(2)  # the API server takes what it has read of policies once a second

    def _checked(self, name):
        return "observedGeneration" in self._cluster.json("get", "validatingadmissionpolicy", name).get("status", {})

    def mark(self, work):
        work.metadata["labels"] = {"trainyard.dev/queue": "default"}


class Kueue(Side):
    programs = ("kueue",)
    tool = "kueue"
    _topology = True
    _GROUP = "kueue.x-k8s.io/v1beta2"

    def start(self):
        controllers.start(self._cluster, "kueue", self._limits.connection)
        controllers.apply(self._cluster, self._queues())
        self._warm_up()

    def stop(self):
        controllers.stop(self._cluster, "kueue")

    def _queues(self):
        items = [("Topology", "racks", {"levels": [{"nodeLabel": label} for label in LEVELS]})]
        flavors = {"with-topology": {"nodeLabels": {kwok.LIVE_LABEL: "live"}, "topologyName": "racks"}, "quotas-alone": {}}
        for name, spec in flavors.items():
            quotas = [{"name": resource, "nominalQuota": _EVERYTHING + unit}
                      for resource, unit in (("cpu", ""), ("memory", "Gi"), (GPU, ""))]
            items += [("ResourceFlavor", name, spec),
                      ("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": [
                          {"coveredResources": [quota["name"] for quota in quotas],
                           "flavors": [{"name": name, "resources": quotas}]}]}),
                      ("LocalQueue", name, {"clusterQueue": name})]
        return [{"apiVersion": self._GROUP, "kind": kind, "spec": spec,
                 "metadata": {"name": name, **({"namespace": "default"} if kind == "LocalQueue" else {})}}
                for kind, name, spec in items]

    def mark(self, work):
        queue = "with-topology" if self._topology else "quotas-alone"
        work.metadata["labels"] = {"kueue.x-k8s.io/queue-name": queue}
        if work.topology and self._topology:
            work.template["metadata"]["annotations"] = {"kueue.x-k8s.io/podset-preferred-topology": PREFERRED}


class KueueQuotas(Kueue):
    """Kueue with a queue that has no topology: pods go wherever kube-scheduler puts them."""
    _topology = False


class Kai(Side):
    programs = kai.PROGRAMS
    tool = "kai"

    def start(self):
        kai.start(self._cluster, LEVELS, self._limits.arguments)
        self._warm_up()

    def stop(self):
        kai.stop(self._cluster)

    def mark(self, work):
        work.metadata["labels"] = {kai.QUEUE_LABEL: kai.QUEUE}
        work.template["spec"]["schedulerName"] = kai.SCHEDULER
        if work.topology:
            work.metadata["annotations"] = {"kai.scheduler/topology": kai.TOPOLOGY,
                                            "kai.scheduler/topology-preferred-placement": PREFERRED}


SIDES = {"Trainyard": Trainyard, "Kueue": Kueue, "Kueue, quotas alone": KueueQuotas, "KAI": Kai}


def build(titles, progress):
    """Builds what these sides need, where it is missing."""
    for tool in sorted({"jobset", *(SIDES[title].tool or "jobset" for title in titles)}):
        tools.only(tool, progress)


def sides(rig, titles, limits):
    """{title: side}; starts what all share. No side runs."""
    controllers.start(rig.cluster, "jobset", limits.connection)
    rig.leave_bare()
    return {title: SIDES[title](rig, limits) for title in titles}


@dataclass
class Result:
    """seconds: from the first request to the last bound pod. cpu: {process: seconds} and writes, until nothing was written
    any more. begin: Unix time of the first request."""
    seconds: float
    created: float
    begin: float
    cpu: dict
    writes: list = field(repr=False)

    def written(self, programs=None, events=False):
        """The number of writes by these programs, or by all but the client."""
        return sum(write.event == events and write.program != CLIENT and (programs is None or write.program in programs)
                   for write in self.writes)

    def spans(self):
        """{(program, verb, resource): (count, refused, seconds of the first, of the last)}, in the order of the first."""
        found = collections.defaultdict(list)
        for write in self.writes:
            found[write.program, write.verb, write.resource].append(write)
        return {key: (len(writes), sum(write.refused for write in writes), writes[0].time - self.begin,
                      writes[-1].time - self.begin)
                for key, writes in sorted(found.items(), key=lambda item: item[1][0].time)}


CLIENT = "trainyard-load-generator"


def measure(rig, side, work):
    log, before = auditlog.AuditLog(rig.cluster), rig.cpu()
    found = load(rig, side, work)
    writes, after = _settle(rig, log)
    begin = min(write.time for write in writes if write.program == CLIENT)
    writes = [write for write in writes if write.time >= begin]
    clear(rig.cluster)
    return Result(found["boundSeconds"], found["createdSeconds"], begin,
                  {name: after.get(name, used) - used for name, used in before.items()}, writes)


def load(rig, side, work, warm_up=False):
    file = rig.cluster.dir / "object.json"
    work = copy.deepcopy(work)
    side.mark(work)
    file.write_text(json.dumps(work.body))
    return rig.load("object", work.count, warm_up=warm_up, timeout=_SECONDS,
                    more=[f"--file={file}", f"--path={work.path}", f"--pods={work.pods}"])


def _settle(rig, log):
    """Waits until no program has written for two seconds, at most two minutes; all writes, and CPU seconds at the last one."""
    writes, cpu, since = [], rig.cpu(), time.monotonic()
    end = since + _SETTLE_SECONDS
    while since + _QUIET_SECONDS > time.monotonic() < end:
        if more := log.more():
            writes += more
            cpu, since = rig.cpu(), time.monotonic()
        time.sleep(0.2)
    return writes, cpu


def clear(cluster):
    """Deletes all workloads of the default namespace; waits until nothing of them is left."""
    for path in _LEFT:
        kwok.poll(lambda path=path: _gone(cluster, path), _SECONDS, lambda path=path: f"{path} is not empty", pause=1)


def _gone(cluster, path):
    try:
        names = [item["metadata"]["name"] for item in cluster.api.list(path)]
    except ApiError as error:
        if error.code == 404:  # no such kind: its side has not run yet
            return True
        raise
    if path in _DELETED:
        # One by one: the API server gives a request a minute, which is too short for a thousand objects.
        with ThreadPoolExecutor(_DELETERS) as pool:
            list(pool.map(lambda name: _delete(cluster.api, f"{path}/{name}"), names))
    return not names


def _delete(api, path):
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "gracePeriodSeconds": 0}
    try:
        api.call("DELETE", path, options, timeout=60)
    except ApiError as error:
        if error.code != 404:
            raise
