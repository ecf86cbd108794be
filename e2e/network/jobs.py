"""TrainingJobs with parameter servers on a cluster of real nodes, whose uplinks are links of fixed rate.

    release = helm.Release(cluster, bin_dir)
    experiment = Experiment(cluster, release.load_image(program("burst"), "burst"), Training())
    shape_uplinks(cluster, mbit=50)
    with experiment.start("space", servers=["real0", "real0"]) as running:   # all servers have their workers, none began
        running.go()
        seconds = running.await_ends()                                    # by job; the servers are still there

What leaves a node and what comes to it passes its link in the hub's namespace, as a wire is. All control traffic of
the node passes it, too.
"""
import json
import select
import socket
import time
from dataclasses import dataclass

from lib import nodenet
from lib.errors import E2EError
from network import namespaces

PORT = 2222
_READY_SECONDS = 240


def shape_uplinks(cluster, mbit):
    """For good: the links end with the cluster."""
    inside = nodenet.inside(cluster.plan.hub)
    for node in cluster.real_nodes:
        namespaces.shape(lambda *args: namespaces.sh(*inside, *args), node, mbit)


@dataclass
class Training:
    """What one job does, in each of its steps; a worker on each node that has not its server."""
    model_bytes: int = 125_000
    compute_ms: int = 200
    steps: int = 12


class Experiment:
    def __init__(self, cluster, image, training):
        self._cluster, self._image, self._training = cluster, image, training

    def start(self, namespace, servers):
        """One job for each of `servers`: the node where its server is to be. They are created in this order, a second
        apart, as ages of jobs are whole seconds."""
        running = Running(self._cluster, namespace, len(servers))
        try:
            for number, node in enumerate(servers):
                if number:
                    time.sleep(1)
                body = self._job(f"job{number}", node, running.address)
                self._cluster.kubectl("create", "-n", namespace, "-f", "-", input=json.dumps(body))
            running.await_servers()
        except BaseException:
            running.close()
            raise
        return running

    def _job(self, name, node, starter):
        work, workers = self._training, len(self._cluster.real_nodes) - 1
        server = ["server", str(PORT), str(workers), str(work.model_bytes), str(work.steps), *starter]
        worker = ["worker", "$(TRAINYARD_JOB)-ps-0.$(TRAINYARD_DOMAIN)", str(PORT), str(work.model_bytes),
                  str(work.compute_ms)]
        labels = {"trainyard.dev/job-name": name, "trainyard.dev/role": "worker"}
        apart = {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}]}
        return {
            "apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"framework": "TensorFlow", "success": {"operator": "All", "roles": ["worker"]}, "roles": [
                {"name": "ps", "template": self._template(server, _on(node, "In"))},
                {"name": "worker", "replicas": workers,
                 "template": self._template(worker, {**_on(node, "NotIn"), "podAntiAffinity": apart}, gpus=1)}]}}

    def _template(self, args, affinity, gpus=0):
        container = {"name": "train", "image": self._image, "imagePullPolicy": "Never", "args": args}
        if gpus:
            container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
        return {"spec": {"affinity": affinity, "terminationGracePeriodSeconds": 2, "containers": [container],
                         "nodeSelector": {"sim.trainyard.dev/kubelet": "real"}}}


def _on(node, operator):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": operator, "values": [node]}]}]}}}


class Running:
    """The servers' side of what they wait for: this machine's address on the nodes' link."""

    def __init__(self, cluster, namespace, jobs):
        self._cluster, self._namespace, self._jobs = cluster, namespace, jobs
        self._listener = socket.create_server((cluster.plan.host_address, 0))
        self._servers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def address(self):
        return tuple(map(str, self._listener.getsockname()))

    def await_servers(self):
        self._listener.settimeout(_READY_SECONDS)
        try:
            while len(self._servers) < self._jobs:
                self._servers.append(self._listener.accept()[0])
        except TimeoutError:
            pods = self._cluster.kubectl("get", "trainingjobs,pods", "-n", self._namespace, "-o", "wide")
            raise E2EError(f"{len(self._servers)} of {self._jobs} servers have their workers after {_READY_SECONDS} s:\n"
                           f"{pods}") from None

    def go(self):
        for server in self._servers:
            server.sendall(b".")

    def await_ends(self, seconds=280):
        """{job: seconds that its steps took}; all of its pods are still there."""
        found, open_, deadline = {}, {server: b"" for server in self._servers}, time.monotonic() + seconds
        while open_:
            ready, _, _ = select.select(list(open_), [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise E2EError(f"{len(open_)} jobs are not at an end after {seconds} s")
            for server in ready:
                received = server.recv(100)
                if not received:
                    raise E2EError("a server has gone before its end")
                open_[server] += received
                if received.endswith(b"\n"):
                    name, took = open_.pop(server).decode().split()
                    found[name] = float(took)
        return found

    def close(self):
        """Lets the servers end, and with them the jobs."""
        for server in self._servers:
            server.close()
        self._servers = []
        self._listener.close()
