"""What cases about workloads of other controllers share: a workload to create, its pods, its Gang."""
import json

from gang_case import QUEUE, GangCase
from lib import controllers
from support import GPU, given, kubectl, node_of, phase

REPLICA = "training.kubeflow.org/replica-index"


def template(gpus=8, name="main", **spec):
    limits = {"resources": {"limits": {GPU: gpus}}} if gpus else {}
    return {"spec": {"containers": [{"name": name, "image": name, **limits}], "terminationGracePeriodSeconds": 0, **spec}}


class Workload(GangCase):
    """A subclass has NAME ("train"), KIND, VERSION, ENDED (a condition), SUSPEND (a path)."""
    CONTROLLER = None
    NAME = "train"
    SUSPEND = ("spec", "runPolicy", "suspend")
    ENDED = "Succeeded"
    HELPERS = 0  # pods without GPUs

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        controllers.start(given(), cls.CONTROLLER)

    def spec(self, workers, **more):
        raise NotImplementedError

    def failures(self):
        """Whatever its controller counts as failures of the workload."""
        return 0

    def rank(self, pod):
        """The index of a worker; nothing of others."""
        return pod["metadata"]["labels"].get(REPLICA)

    @property
    def gang_name(self):
        return f"{self.NAME}.{self.KIND.lower()}"

    def apply(self, workers=3, **more):
        body = {"apiVersion": self.VERSION, "kind": self.KIND, "metadata": {"name": self.NAME, "labels": {QUEUE: "default"}},
                "spec": self.spec(workers, **more)}
        at = body
        for name in self.SUSPEND[:-1]:
            at = at.setdefault(name, {})
        at[self.SUSPEND[-1]] = True
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(self.delete)

    def delete(self):
        kubectl("delete", self.KIND.lower(), self.NAME, "-n", self.namespace, "--ignore-not-found", "--timeout=60s")

    def workload(self):
        return given().json("get", self.KIND.lower(), self.NAME, "-n", self.namespace)

    def suspended(self):
        at = self.workload()
        for name in self.SUSPEND:
            at = at.get(name, {})
        return at

    def mine(self, pods):
        return [pod for (_, name), pod in pods.items() if name.startswith(f"{self.NAME}-")]

    def workers(self, pods):
        return [pod for pod in self.mine(pods) if "limits" in pod["spec"]["containers"][0].get("resources", {})]

    def await_running(self, pods, workers):
        """Waits until so many pods with GPUs and all helpers run, each on its own node; returns those with GPUs."""
        def all_run(objects):
            found = self.mine(objects)
            run = len(found) == workers + self.HELPERS and all(phase(pod) == "Running" for pod in found)
            return run and self.workers(objects)
        found = pods.wait(all_run, f"{workers} workers and {self.HELPERS} helpers run")
        self.assertEqual(workers, len({node_of(pod) for pod in found}))
        return found
