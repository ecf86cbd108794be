"""Kueue's real manager queues TrainingJobs, in one cluster and over several, as docs/multicluster.md says: the objects of that
page are what is created here. Run only by name: building Kueue takes minutes.

The given cluster is the single one, and the manager of the others. Of these, east has nodes, and west has quota for no job.
"""
import atexit
import json
import os
import re
import textwrap
import unittest

import yaml

import support
from lib import controllers, pki, tools, trainyard
from lib.cluster import Cluster
from support import RACK, ROOT, given, kubectl, phase

CLUSTER = {"nodes": 8, "kueue": True}
TOOLS = ["kueue"]
RUNS = "whole"
KUEUE = "kueue.x-k8s.io"
QUEUE = f"{KUEUE}/queue-name"
SYSTEM = "kueue-system"
MULTIKUEUE = f"{KUEUE}/multikueue"
# Three control planes with a manager of Kueue each: a minute and a half on a busy machine.
SLOW = 90


def blocks():
    """The objects of the page's YAML blocks, by kind and name; Kueue's configuration by its comment, the last one."""
    found = {}
    page = (ROOT / "docs/multicluster.md").read_text(encoding="utf-8")
    for text in re.findall(r"^ *```yaml\n(.*?)^ *```", page, re.S | re.M):
        text = textwrap.dedent(text)
        for item in yaml.safe_load_all(text):
            if text.startswith("# Kueue's configuration"):
                found["configuration"] = item
            elif "kind" in item:
                found[item["kind"], item["metadata"]["name"]] = item
    return found


PAGE = blocks()


def kueue_config():
    """Of the module's configuration only what this page changes: the other kinds' CRDs are not here."""
    sections = json.loads(json.dumps(PAGE["configuration"]))
    sections["integrations"]["frameworks"] = ["batch/job"]
    sections["namespace"] = SYSTEM
    sections["multiKueue"].update(gcInterval="2s", workerLostTimeout="5m")
    return sections


def start_kueue(cluster, kubeconfig=None):
    controllers.start(cluster, "kueue", kueue_config(), kubeconfig)


def bound_role(role, account):
    """The role and its binding to a ServiceAccount of Kueue's namespace."""
    name = role["metadata"]["name"]
    return role, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                  "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                  "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}]}


def write_kubeconfig(cluster, account, file):
    token = cluster.kubectl("create", "token", account, "-n", SYSTEM, "--duration=24h").strip()
    pki.kubeconfig(file, cluster.server, cluster.pki, token=token, namespace=SYSTEM)
    return file


def apply(cluster, namespace, *items):
    text = "\n---\n".join(json.dumps(item) for item in items).replace('"namespace": "ml"', f'"namespace": "{namespace}"')
    cluster.kubectl("apply", "--validate=false", "-f", "-", input=text)


def setUpModule():
    """Kueue has its own rights here, and those of the page."""
    kubectl("create", "namespace", SYSTEM)
    rights = tools.module_folder("kueue", "sigs.k8s.io/kueue") / "config/components/rbac"
    kubectl("apply", "-n", SYSTEM, "-f", "-", input=kubectl("kustomize", rights).replace("namespace: system", f"namespace: {SYSTEM}"))
    apply(given(), "", *bound_role(PAGE["ClusterRole", "kueue-trainingjobs"], "controller-manager"))
    start_kueue(given(), write_kubeconfig(given(), "controller-manager", given().dir / "kueue.kubeconfig"))


class KueueCase(support.Case):
    def job(self, name, replicas, labels=None, **spec):
        body = json.loads(json.dumps(PAGE["TrainingJob", "bert"]))
        body["metadata"].update(name=name, namespace=self.namespace, labels={QUEUE: self.QUEUE, **(labels or {})})
        body["spec"]["roles"][0]["replicas"] = replicas
        body["spec"].update(spec)
        support.create_job(self.namespace, body)

    def workload(self, job, cluster=None):
        found = (cluster or given()).json("get", f"workloads.{KUEUE}", "-n", self.namespace, "-l", f"{support.JOB_NAME}={job}")["items"]
        return found[0] if found else None

    def await_workload(self, job, test, what, cluster=None):
        return support.await_value(lambda: self.workload(job, cluster), lambda found: found and test(found), f"{job}: {what}",
                                   SLOW)

    def await_job(self, jobs, name, test, what):
        key = (self.namespace, name)
        return jobs.wait(lambda all_: key in all_ and test(all_[key]) and all_[key], f"{name} {what}", SLOW)

    def set_active(self, job, active, cluster=None):
        name = self.workload(job, cluster)["metadata"]["name"]
        (cluster or given()).kubectl("patch", f"workloads.{KUEUE}", name, "-n", self.namespace, "--type=merge", "-p",
                                     json.dumps({"spec": {"active": active}}))


def pending(item):
    return item.get("status", {}).get("pending") or {}


class SingleCluster(KueueCase):
    QUEUE = "research"

    @classmethod
    def setUpClass(cls):
        apply(given(), "", PAGE["ResourceFlavor", "any"], PAGE["ClusterQueue", "research"])

    def setUp(self):
        super().setUp()
        apply(given(), self.namespace, PAGE["LocalQueue", "research"])
        self.addCleanup(kubectl, "delete", f"localqueues.{KUEUE}", "research", "-n", self.namespace)

    def test_a_job_waits_for_quota_runs_in_one_rack_and_ends_its_workload(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.job("first", 2)
            self.await_job(jobs, "first", lambda item: phase(item) == "Running", "runs")
            self.job("second", 3)
            waits = self.await_job(jobs, "second", lambda item: "insufficient" in pending(item).get("message", ""), "waits for quota")
            self.assertEqual("WaitingForKueue", pending(waits)["reason"])
            self.assertIn("LocalQueue research", pending(waits)["message"])
            self.assertEqual("Queued", phase(waits))
            self.assertFalse(waits["spec"].get("run", {}).get("suspend"))
            self.assertFalse([name for _, name in pods.objects if name.startswith("second")])
            kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{support.RUN_FOR}=0s")
            self.await_job(jobs, "second", lambda item: phase(item) == "Running", "runs")
            racks = {node["metadata"]["labels"][RACK] for node in given().json("get", "nodes")["items"]
                     if node["metadata"]["name"] in {pod["spec"].get("nodeName") for (_, name), pod in pods.objects.items()
                                                     if name.startswith("second")}}
            self.assertEqual(1, len(racks), racks)
        first = self.await_workload("first", lambda found: support.holds(found, "Finished"), "its Workload is finished")
        self.assertEqual("Succeeded", support.condition(first, "Finished")["reason"])

    def test_an_evicted_job_frees_its_nodes_and_runs_again(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.job("evicted", 2)
            self.await_job(jobs, "evicted", lambda item: phase(item) == "Running", "runs")
            self.set_active("evicted", False)
            held = self.await_job(jobs, "evicted", lambda item: pending(item).get("reason") == "WaitingForKueue", "is held")
            self.assertNotIn("placed", held["status"].get("gang", {}))
            pods.wait(lambda all_: not all_, "its pods are gone")
            freed = self.await_workload("evicted", lambda found: not support.holds(found, "QuotaReserved"), "its quota is free")
            self.assertNotIn("admission", freed["status"])
            self.assertFalse(support.holds(freed, "Admitted"))
            self.set_active("evicted", True)
            self.await_job(jobs, "evicted", lambda item: phase(item) == "Running", "runs again")

    def test_a_job_that_kueue_preempts_runs_again_after_the_other_one(self):
        apply(given(), "", {"apiVersion": f"{KUEUE}/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"},
                            "value": 1000})
        kubectl("patch", f"clusterqueues.{KUEUE}", "research", "--type=merge", "-p",
                '{"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}}')
        with support.watch_jobs(self.namespace) as jobs:
            self.job("low", 4)
            self.await_job(jobs, "low", lambda item: phase(item) == "Running", "runs")
            self.job("urgent", 3, {f"{KUEUE}/priority-class": "urgent"})
            self.await_job(jobs, "urgent", lambda item: phase(item) == "Running", "runs")
            self.assertEqual("WaitingForKueue", pending(jobs.objects[self.namespace, "low"])["reason"])
            kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{support.RUN_FOR}=0s")
            self.await_job(jobs, "low", lambda item: phase(item) == "Running", "runs again")

    def test_a_running_job_goes_on_when_the_operator_restarts(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.job("stays", 1)
            self.job("gang", 2)
            for name in ("stays", "gang"):
                self.await_job(jobs, name, lambda item: phase(item) == "Running", "runs")
            before = {name: pod["metadata"]["uid"] for (_, name), pod in pods.objects.items()}
            given().restart(support.OPERATOR)
            self.job("later", 1)  # placed by the new leader, which then has decided on the others, too
            self.await_job(jobs, "later", lambda item: phase(item) == "Running", "runs")
            after = {name: pod["metadata"]["uid"] for (_, name), pod in pods.objects.items() if name in before}
        self.assertEqual(before, after)

    def test_a_suspended_job_holds_no_quota(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job("paused", 4)
            self.await_job(jobs, "paused", lambda item: phase(item) == "Running", "runs")
            kubectl("patch", "trainingjob", "paused", "-n", self.namespace, "--type=merge", "-p", '{"spec":{"run":{"suspend":true}}}')
            self.await_job(jobs, "paused", lambda item: phase(item) == "Suspended", "is suspended")
            self.job("other", 4)
            self.await_job(jobs, "other", lambda item: phase(item) == "Running", "runs")
            self.assertIsNone(self.workload("paused"))


class TwoClusters(KueueCase):
    QUEUE = "regions"

    @classmethod
    def setUpClass(cls):
        bin_dir = os.environ.get("TRAINYARD_E2E_BIN", str(trainyard.DEFAULT_BIN))
        cls.east = Cluster.up(bin_dir=bin_dir, nodes=8, kueue=True)
        # Not cleanups of the class: an interruption skips these.
        atexit.register(cls.east.down)
        cls.west = Cluster.up(api_only=True)
        atexit.register(cls.west.down)
        trainyard.install_objects(cls.west)
        for name, gpus in (("east", 32), ("west", 0)):
            cls.prepare_worker(name, gpus)
        apply(given(), "", *(PAGE[key] for key in (
            ("MultiKueueCluster", "east"), ("MultiKueueCluster", "west"), ("MultiKueueConfig", "regions"), ("AdmissionCheck", "regions"),
            ("ResourceFlavor", "remote"), ("ClusterQueue", "regions"))))
        kubectl("wait", "--for=condition=Active", f"clusterqueues.{KUEUE}/regions", "--timeout=90s")

    @classmethod
    def prepare_worker(cls, name, gpus):
        cluster = getattr(cls, name)
        cluster.kubectl("create", "namespace", SYSTEM)
        start_kueue(cluster)
        queue = json.loads(json.dumps(PAGE["ClusterQueue", "research"]))
        for each in queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
            if each["name"] == support.GPU:
                each["nominalQuota"] = gpus
        apply(cluster, "", PAGE["ResourceFlavor", "any"], queue, *bound_role(PAGE["ClusterRole", "multikueue"], "manager"))
        cluster.kubectl("create", "serviceaccount", "manager", "-n", SYSTEM)
        file = write_kubeconfig(cluster, "manager", given().dir / f"{name}.kubeconfig")
        kubectl("create", "secret", "generic", name, "-n", SYSTEM, f"--from-file=kubeconfig={file}")

    def setUp(self):
        super().setUp()
        for cluster in (self.east, self.west):
            cluster.kubectl("create", "namespace", self.namespace)
            local = json.loads(json.dumps(PAGE["LocalQueue", "regions"]))
            local["spec"]["clusterQueue"] = "research"
            apply(cluster, self.namespace, local)
        apply(given(), self.namespace, PAGE["LocalQueue", "regions"])

    def in_east(self, name):
        found = self.east.json("get", "trainingjobs", "-n", self.namespace)["items"]
        return next((item for item in found if item["metadata"]["name"] == name), None)

    def test_a_job_runs_in_the_cluster_with_quota_and_its_end_comes_back(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job("far", 2, managedBy=MULTIKUEUE)
            running = self.await_job(jobs, "far", lambda item: phase(item) == "Running", "runs")
            self.assertEqual("east", self.workload("far")["status"]["clusterName"])
            self.assertEqual("trainyard.dev/operator", self.in_east("far")["spec"]["managedBy"])
            self.assertTrue(running["status"]["gang"]["placed"])
            self.assertFalse(given().json("get", "pods", "-n", self.namespace)["items"])
            self.assertEqual(0, given().metrics(support.OPERATOR).get('trainyard_queue_gpus{queue="default"}', 0))
            self.east.kubectl("annotate", "pods", "--all", "-n", self.namespace, f"{support.RUN_FOR}=0s")
            self.await_job(jobs, "far", lambda item: phase(item) == "Succeeded", "has succeeded")
            self.await_workload("far", lambda found: support.holds(found, "Finished"), "its Workload is finished")
            support.await_value(lambda: self.in_east("far"), lambda found: found is None, "the copy is deleted")

    def test_a_deleted_job_is_deleted_in_the_worker(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job("gone", 2, managedBy=MULTIKUEUE)
            self.await_job(jobs, "gone", lambda item: phase(item) == "Running", "runs")
        support.delete_job(self.namespace, "gone")
        support.await_value(lambda: self.in_east("gone"), lambda found: found is None, "the copy is deleted", SLOW)
        self.assertIsNone(self.workload("gone", self.east))

    def test_a_job_evicted_in_the_manager_stops_and_is_dispatched_again(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job("back", 2, managedBy=MULTIKUEUE)
            self.await_job(jobs, "back", lambda item: phase(item) == "Running", "runs")
            before = self.in_east("back")["metadata"]["uid"]
            self.set_active("back", False)
            support.await_value(lambda: self.in_east("back"), lambda found: found is None, "the copy is deleted", SLOW)
            support.await_value(lambda: self.east.json("get", "pods", "-n", self.namespace)["items"], lambda found: not found,
                                "its pods are gone")
            self.set_active("back", True)
            support.await_value(lambda: self.in_east("back"), lambda found: found and phase(found) == "Running", "it runs again",
                                SLOW)
            self.assertNotEqual(before, self.in_east("back")["metadata"]["uid"])

    def test_a_job_evicted_in_the_worker_is_dispatched_again(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job("moved", 2, managedBy=MULTIKUEUE)
            self.await_job(jobs, "moved", lambda item: phase(item) == "Running", "runs")
            before = self.in_east("moved")["metadata"]["uid"]
            self.set_active("moved", False, self.east)
            support.await_value(lambda: self.in_east("moved"), lambda found: found and found["metadata"]["uid"] != before
                                and phase(found) == "Running", "it runs again", SLOW)


if __name__ == "__main__":
    unittest.main()
