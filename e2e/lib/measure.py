"""A cluster to measure on: the same control plane with Trainyard, or with the bare kube-scheduler alone."""
import json
import os
import statistics
import subprocess
from pathlib import Path

from . import kwok, processes, trainyard
from .api import ApiError
from .cluster import Cluster
from .errors import E2EError

JOBS = "/apis/trainyard.dev/v1alpha1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
_TICKS = os.sysconf("SC_CLK_TCK")
_LOAD_SECONDS = 300
_CLEAR_SECONDS = 180


def median(values):
    return statistics.median(values)


def _programs(bin_dir):
    """Where operator and extender are: TRAINYARD_E2E_BIN measures those of another build with this one's generator."""
    return Path(os.environ.get("TRAINYARD_E2E_BIN", bin_dir))


class Rig:
    """Both sides of a comparison share API server, etcd and nodes; kube-scheduler is restarted to change sides."""

    def __init__(self, nodes, bin_dir, progress, audit=False, shape=None, kinds=("Job",)):
        self.say = progress.say
        self.cluster = Cluster.up(nodes=nodes, shape=shape or kwok.Shape(), bin_dir=_programs(bin_dir), audit=audit,
                                  kinds=kinds, progress=progress)
        self._loader = bin_dir / "tests" / "bench" / "load-generator"
        self._config = self.cluster.dir / "kube-scheduler.yaml"
        self._with_extender = self._config.read_text()
        self._runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cluster.down()

    def use_trainyard(self):
        self.start_trainyard()
        self.load("jobs", 2, warm_up=True)
        self.clear()

    def use_bare(self):
        self.leave_bare()
        self.load("pods", 2, warm_up=True)
        self.clear()

    def start_trainyard(self):
        for name in (trainyard.EXTENDER, trainyard.OPERATOR):
            if not self.cluster.alive(name):
                self.cluster.start(name)
        self._restart_scheduler(self._with_extender)

    def leave_bare(self):
        """Stops Trainyard; kube-scheduler runs without the extender."""
        self.stop_trainyard()
        config = json.loads(self._with_extender)
        # As it comes: what the extender needs would only slow the bare one down.
        for key in ("extenders", "percentageOfNodesToScore"):
            config.pop(key)
        self._restart_scheduler(json.dumps(config))

    def stop_trainyard(self):
        for name in (trainyard.OPERATOR, trainyard.EXTENDER):
            if self.cluster.alive(name):
                self.cluster.stop(name)

    def _restart_scheduler(self, config):
        self._config.write_text(config)
        self.cluster.restart("kube-scheduler")

    def load(self, kind, count, gpus=1, warm_up=False, run=None, more=(), timeout=_LOAD_SECONDS):
        """Runs the load generator; its numbers, and cpu: seconds of each process meanwhile."""
        self._runs += 1
        before = self.cpu()
        argv = [self._loader, f"--kubeconfig={self.cluster.kubeconfig}", f"--kind={kind}", f"--count={count}",
                f"--gpus={gpus}", f"--run={run or f'r{self._runs}'}", f"--timeout={timeout}", *more]
        done = subprocess.run(argv, env=processes.environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise E2EError(f"load-generator --kind={kind}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        result["cpu"] = {name: used - before.get(name, 0) for name, used in self.cpu().items()}
        if not warm_up and "boundSeconds" in result:
            self.say(f"{kind} x {count}: bound after {result['boundSeconds']:.2f} s, "
                     f"created after {result['createdSeconds']:.2f} s; load average {os.getloadavg()[0]:.1f}")
        return result

    def cpu(self):
        """CPU seconds that each live process has used so far."""
        used = {}
        for name, record in self.cluster.processes().items():
            if not processes.alive(record["pid"], record["ticks"]):
                continue
            with open(f"/proc/{record['pid']}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
            used[name] = (int(fields[11]) + int(fields[12])) / _TICKS
        return used

    def clear(self):
        """Deletes all jobs and pods of the default namespace and waits until they are gone."""
        kwok.poll(lambda: self._gone(JOBS), _CLEAR_SECONDS, lambda: "TrainingJobs are still there")
        kwok.poll(lambda: self._gone(PODS, 0), _CLEAR_SECONDS, lambda: "pods are still there")

    def _gone(self, path, grace=None):
        options = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            self.cluster.api.call("DELETE", path, options, timeout=_CLEAR_SECONDS)
        except ApiError as error:
            # Thousands at once may take the API server longer than it gives a request: the next one goes on.
            if error.code not in (404, 504):
                raise
        return not self._any(path)

    def _any(self, path):
        return bool(self.cluster.api.get(f"{path}?limit=1")["items"])

    def wait_metric(self, key, value, timeout=_LOAD_SECONDS):
        """Waits until one of the operator's metrics has the value."""
        def now():
            return self.cluster.metrics(trainyard.OPERATOR).get(key)
        kwok.poll(lambda: now() == value, timeout, lambda: f"{key} is {now()}, not {value}")

    def operator_writes(self):
        """{(verb, resource): count} of the operator's writes so far but those of its Lease, from the audit log."""
        user = f"system:serviceaccount:{trainyard.NAMESPACE}:{trainyard.OPERATOR}"
        counts = {}
        with open(self.cluster.dir / "audit.log", encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                if entry["user"]["username"] != user or entry["verb"] in ("get", "list", "watch"):
                    continue
                what = entry["objectRef"]
                resource = "/".join(filter(None, (what["resource"], what.get("subresource"))))
                if resource != "leases":
                    key = (entry["verb"], resource)
                    counts[key] = counts.get(key, 0) + 1
        return counts
