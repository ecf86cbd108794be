"""The real controllers of other workload kinds make the pods that their users expect, and report when these have ended.
Each class can run alone (-k MPIJobs). Run only by name: building the controllers takes minutes.
"""
import json
import re

import support
from support import GPU, RUN_FOR, given, kubectl

from lib import controllers

CLUSTER = {"nodes": 8, "workloads": True}
TOOLS = ["mpi-operator", "jobset", "training-operator", "kuberay", "kueue", "lws", "trainer"]
RUNS = "whole"
RANDOM = "[a-z0-9]{5}"


def template(gpus=8, name="main", **spec):
    limits = {"resources": {"limits": {GPU: gpus}}} if gpus else {}
    return {"spec": {"containers": [{"name": name, "image": name, **limits}], **spec}}


def batch_job(replicas, indexed=True):
    return {"completions": replicas, "parallelism": replicas, "completionMode": "Indexed" if indexed else "NonIndexed",
            "template": template(restartPolicy="Never")}


class ControllerCase(support.Case):
    CONTROLLERS = ()
    OWNERS = ()  # kinds that would make the pods again, topmost first

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in cls.CONTROLLERS:
            controllers.start(given(), name)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.delete_owners)

    def delete_owners(self):
        for kind in self.OWNERS:
            kubectl("delete", kind, "--all", "-n", self.namespace, "--timeout=60s")

    def create(self, kind, version, name, spec, **metadata):
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(body))

    def await_pods(self, patterns):
        """Waits until these pods run, and no other: {pattern of a name: labels that it has at least}."""
        def matched(objects):
            found = {pattern: pod for pattern in patterns for (_, name), pod in objects.items() if re.fullmatch(pattern, name)}
            running = all(pod["status"].get("phase") == "Running" for pod in objects.values())
            return running and len(objects) == len(found) == len(patterns) and found

        with support.watch_pods(self.namespace) as pods:
            found = pods.wait(matched, f"the pods {', '.join(patterns)} run")
        for pattern, labels in patterns.items():
            self.assertLessEqual(labels.items(), found[pattern]["metadata"]["labels"].items())

    def end_pods(self):
        kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{RUN_FOR}=0s")

    def await_condition(self, what, condition):
        kubectl("wait", f"--for=condition={condition}", what, "-n", self.namespace, f"--timeout={support.PATIENCE}s")


class MPIJobs(ControllerCase):
    CONTROLLERS = ("mpi-operator",)
    OWNERS = ("mpijobs", "jobs")

    def test_launcher_and_workers(self):
        self.create("MPIJob", "kubeflow.org/v2beta1", "m", {"slotsPerWorker": 8, "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": template(0)}, "Worker": {"replicas": 2, "template": template()}}})
        role, index = "training.kubeflow.org/job-role", "training.kubeflow.org/replica-index"
        self.await_pods({f"m-launcher-{RANDOM}": {role: "launcher"}, "m-worker-0": {role: "worker", index: "0"},
                         "m-worker-1": {role: "worker", index: "1"}})
        self.end_pods()
        self.await_condition("mpijob/m", "Succeeded")


class JobSets(ControllerCase):
    CONTROLLERS = ("jobset",)
    OWNERS = ("jobsets", "jobs")

    def test_two_replicated_jobs(self):
        self.create("JobSet", "jobset.x-k8s.io/v1alpha2", "s", {"replicatedJobs": [
            {"name": "driver", "replicas": 1, "template": {"spec": batch_job(1)}},
            {"name": "workers", "replicas": 2, "template": {"spec": batch_job(2)}}]})
        prefix, index = "jobset.sigs.k8s.io", "batch.kubernetes.io/job-completion-index"
        workers = {f"s-workers-{job}-{pod}-{RANDOM}": {
            f"{prefix}/replicatedjob-name": "workers", f"{prefix}/job-index": str(job), index: str(pod),
            f"{prefix}/job-global-index": str(job + 1)} for job in range(2) for pod in range(2)}
        self.await_pods({f"s-driver-0-0-{RANDOM}": {f"{prefix}/jobset-name": "s", f"{prefix}/job-global-index": "0"}, **workers})
        self.end_pods()
        self.await_condition("jobset/s", "Completed")


class TrainingOperatorJobs(ControllerCase):
    CONTROLLERS = ("training-operator",)
    OWNERS = ("pytorchjobs", "tfjobs")
    ROLE, INDEX = "training.kubeflow.org/replica-type", "training.kubeflow.org/replica-index"

    def test_pytorch(self):
        self.create("PyTorchJob", "kubeflow.org/v1", "p", {"pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": template(name="pytorch")},
            "Worker": {"replicas": 2, "template": template(name="pytorch")}}})
        self.await_pods({"p-master-0": {self.ROLE: "master", "training.kubeflow.org/job-role": "master"},
                         "p-worker-0": {self.ROLE: "worker", self.INDEX: "0"},
                         "p-worker-1": {self.ROLE: "worker", self.INDEX: "1"}})
        self.end_pods()
        self.await_condition("pytorchjob/p", "Succeeded")

    def test_tensorflow(self):
        self.create("TFJob", "kubeflow.org/v1", "t", {"tfReplicaSpecs": {
            "PS": {"replicas": 1, "template": template(0, "tensorflow")},
            "Worker": {"replicas": 2, "template": template(name="tensorflow")}}})
        self.await_pods({"t-ps-0": {self.ROLE: "ps"}, "t-worker-0": {self.ROLE: "worker", self.INDEX: "0"},
                         "t-worker-1": {self.ROLE: "worker", self.INDEX: "1"}})
        self.end_pods()
        self.await_condition("tfjob/t", "Succeeded")


class RayClusters(ControllerCase):
    CONTROLLERS = ("kuberay",)
    OWNERS = ("rayjobs", "rayclusters", "jobs")

    def test_head_and_workers(self):
        """A RayCluster has no end of its own: it is ready as long as its pods run."""
        self.create("RayCluster", "ray.io/v1", "r", {
            "headGroupSpec": {"rayStartParams": {}, "template": template(0, "ray-head")},
            "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 0, "maxReplicas": 4, "rayStartParams": {},
                                  "template": template(name="ray-worker")}]})
        with support.watch_pods(self.namespace) as pods:
            pods.wait(lambda all_: len(all_) == 3 and all(each["status"].get("phase") == "Running" for each in all_.values()),
                      "three pods run")
            kinds = sorted((each["metadata"]["labels"]["ray.io/node-type"], each["metadata"]["labels"]["ray.io/group"])
                           for each in pods.objects.values())
        self.assertEqual([("head", "headgroup"), ("worker", "gpu"), ("worker", "gpu")], kinds)
        self.await_condition("raycluster/r", "RayClusterProvisioned")


class Kueue(ControllerCase):
    CONTROLLERS = ("kueue",)
    OWNERS = ("jobs",)

    @classmethod
    def tearDownClass(cls):
        # Its webhooks handle all kinds, and refuse TrainJobs as long as it has not noticed their CRDs.
        controllers.stop(given(), "kueue")
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        quota = {"name": GPU, "nominalQuota": "16"}
        for kind, name, spec in (
                ("ResourceFlavor", "any", {}),
                ("ClusterQueue", "all", {"namespaceSelector": {}, "resourceGroups": [
                    {"coveredResources": [GPU], "flavors": [{"name": "any", "resources": [quota]}]}]}),
                ("LocalQueue", "mine", {"clusterQueue": "all"})):
            self.create(kind, "kueue.x-k8s.io/v1beta2", name, spec)
            if kind != "LocalQueue":
                self.addCleanup(kubectl, "delete", kind, name, "--wait=false")
        self.addCleanup(kubectl, "delete", "localqueue", "mine", "-n", self.namespace)

    def test_a_job_that_fits_starts_and_one_that_does_not_stays_suspended(self):
        queue = {"labels": {"kueue.x-k8s.io/queue-name": "mine"}}
        self.create("Job", "batch/v1", "fits", batch_job(2), **queue)
        self.create("Job", "batch/v1", "large", batch_job(3), **queue)
        index = "batch.kubernetes.io/job-completion-index"
        self.await_pods({f"fits-0-{RANDOM}": {index: "0"}, f"fits-1-{RANDOM}": {index: "1"}})
        self.end_pods()
        self.await_condition("job/fits", "Complete")
        admitted = [item["metadata"]["name"] for item in given().json("get", "workloads", "-n", self.namespace)["items"]
                    if support.holds(item, "QuotaReserved")]
        self.assertEqual(1, len(admitted), admitted)
        self.assertTrue(given().json("get", "job", "large", "-n", self.namespace)["spec"]["suspend"])


class LeaderWorkerSets(ControllerCase):
    CONTROLLERS = ("lws",)
    OWNERS = ("leaderworkersets", "statefulsets")

    def test_two_groups(self):
        """A LeaderWorkerSet has no end: it is available as long as its pods run."""
        self.create("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "l", {
            "replicas": 2, "leaderWorkerTemplate": {"size": 2, "leaderTemplate": template(0), "workerTemplate": template()}})
        prefix = "leaderworkerset.sigs.k8s.io"
        pods = (("l-0", "0", "0"), ("l-0-1", "0", "1"), ("l-1", "1", "0"), ("l-1-1", "1", "1"))
        self.await_pods({name: {f"{prefix}/name": "l", f"{prefix}/group-index": group, f"{prefix}/worker-index": worker}
                         for name, group, worker in pods})
        self.await_condition("leaderworkerset/l", "Available")


class TrainJobs(ControllerCase):
    CONTROLLERS = ("jobset", "trainer")
    OWNERS = ("trainjobs", "jobsets", "jobs")

    def test_nodes_of_a_runtime(self):
        self.create("TrainingRuntime", "trainer.kubeflow.org/v1alpha1", "torch", {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {
                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                "spec": {"template": template(0, "node")}}}]}}}, labels={"trainer.kubeflow.org/framework": "torch"})
        self.create("TrainJob", "trainer.kubeflow.org/v1alpha1", "t", {
            "runtimeRef": {"kind": "TrainingRuntime", "name": "torch"},
            "trainer": {"numNodes": 2, "resourcesPerNode": {"limits": {GPU: 8}}}})
        index = "batch.kubernetes.io/job-completion-index"
        self.await_pods({f"t-node-0-{pod}-{RANDOM}": {"jobset.sigs.k8s.io/replicatedjob-name": "node", index: str(pod)}
                         for pod in range(2)})
        self.end_pods()
        self.await_condition("trainjob/t", "Complete")
