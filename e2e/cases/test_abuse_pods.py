"""A tenant whose pods prevent pods of other tenants from starting or running. Each docstring names the harm that is prevented.

    e2e/run abuse_pods
"""
import json
import time

import support
from kubernetes import client
from lib import kwok
from support import GPU, kubectl
from tenants import Tenants, install_chart, never_bound, role

CLUSTER = {"nodes": 4}  # of 8 GPUs
SYSTEM_CLASSES = ("system-node-critical", "system-cluster-critical")
CLASS = "e2e-slow"
BAR_FOR_WORDS = 20


def setUpModule():
    install_chart()


def bare(name, **spec):
    """A pod of no job: 100m."""
    return {"metadata": {"name": name}, "spec": {
        "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "100m"}}}], **spec}}


def apart(selector, topology="kubernetes.io/os", **scope):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": selector, "topologyKey": topology, **scope}]}}


MEMBERS = {"matchExpressions": [{"key": "trainyard.dev/job-uid", "operator": "Exists"}]}


class Starting(Tenants):
    def neighbour_is_placed(self):
        self.is_placed(self.submits("gang", role(replicas=2, gpus=8)))

    def test_a_gang_of_most_pod_slots_that_is_never_bound(self):
        """If all tenants shared the bound on starting members, no other gang would start until this attempt's deadline,
        six minutes later."""
        self.claim()
        self.attack("starters", role(replicas=300, cpu="10m", **never_bound()))
        self.is_being_started("starters")
        self.neighbour_is_placed()

    def test_many_jobs_of_members_that_are_never_bound(self):
        self.claim()
        for number in range(12):
            self.attack(f"starters-{number}", role(replicas=100, cpu="10m", **never_bound()))
        for number in range(3):
            self.is_being_started(f"starters-{number}")
        self.neighbour_is_placed()

    def test_control(self):
        self.neighbour_is_placed()


class Apart(Tenants):
    """Required anti-affinity also holds for later pods of any namespace: kube-scheduler could bind no member of any
    gang beside it, and whole gangs could be preempted for one that then cannot start."""

    def terms(self):
        yield apart(MEMBERS, namespaceSelector={})
        yield apart(MEMBERS, namespaces=[self.others])
        yield apart(MEMBERS, "kubernetes.io/hostname", namespaceSelector={})
        yield apart(MEMBERS, "topology.kubernetes.io/zone", namespaces=[self.namespace, self.others])
        yield apart({"matchLabels": {"team": "neighbour"}}, namespaceSelector={"matchLabels": {"team": "x"}})
        yield apart({}, namespaceSelector={"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})
        both = apart(MEMBERS)
        both["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] += apart(MEMBERS, namespaceSelector={})[
            "podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        yield both

    def test_pods_of_no_job(self):
        for affinity in self.terms():
            with self.subTest(json.dumps(affinity)):
                self.is_refused("other namespaces", self.core.create_namespaced_pod, self.namespace,
                                bare("apart", affinity=affinity))
        # In its own namespace it may.
        for namespaces in ({}, {"namespaces": [self.namespace]}):
            self.core.create_namespaced_pod(self.namespace, bare(f"own-{len(namespaces)}",
                                                                 affinity=apart(MEMBERS, **namespaces)))
        self.is_placed(self.submits("gang", role(replicas=4, gpus=8)))

    def test_pods_of_a_workload(self):
        batch = client.BatchV1Api(self.core.api_client)
        affinity = apart(MEMBERS, namespaceSelector={})
        template = {"spec": {**bare("x", affinity=affinity)["spec"], "restartPolicy": "Never"}}
        batch.create_namespaced_job(self.namespace, {"metadata": {"name": "apart"}, "spec": {"template": template}})
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace), lambda text: "other namespaces" in text,
                            "its controller is refused")
        self.is_placed(self.submits("gang", role(replicas=4, gpus=8)))

    def test_members_of_a_job(self):
        key = self.attack("apart", role(replicas=2, cpu="100m", affinity=apart(MEMBERS, namespaceSelector={})))
        self.assertEqual("InvalidTemplate", self.not_admitted(key)["reason"])
        self.is_placed(self.submits("gang", role(replicas=4, gpus=8)))

    def test_the_clusters_own_programs_may(self):
        body = bare("apart", affinity=apart({"matchLabels": {"x": "y"}}, namespaceSelector={}))
        support.core().create_namespaced_pod("kube-system", body, dry_run="All")
        # An administrator is no exception elsewhere.
        self.is_refused("other namespaces", lambda: support.core().create_namespaced_pod(self.others, body, dry_run="All"))


class Critical(Tenants):
    """kube-scheduler evicts members of gangs for pods of a higher class; it asks the extender only about pods with
    GPUs."""

    def test_pods_of_a_class_of_the_system(self):
        """Four pods without GPUs could evict four of four members of a running gang within 20 s."""
        self.runs_by("gang", role(replicas=4, gpus=8, cpu="60"))
        for name in SYSTEM_CLASSES:
            for number in range(4):
                body = bare(f"critical-{number}", priorityClassName=name)
                body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "60"
                self.is_refused("for the cluster's own programs", self.core.create_namespaced_pod, self.namespace, body)
        self.assertEqual(4, len(support.members_now(self.others, "gang")))
        self.assertEqual("Running", support.phase(support.get_job(self.others, "gang")))

    def test_pods_of_a_workload(self):
        batch = client.BatchV1Api(self.core.api_client)
        template = {"spec": {**bare("x", priorityClassName=SYSTEM_CLASSES[0])["spec"], "restartPolicy": "Never"}}
        batch.create_namespaced_job(self.namespace, {"metadata": {"name": "critical"}, "spec": {"template": template}})
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace), lambda text: "own programs" in text,
                            "its controller is refused")

    def test_members_of_a_job(self):
        key = self.attack("critical", role(cpu="60"), priorityClassName=SYSTEM_CLASSES[1])
        self.assertEqual(self.not_admitted(key)["reason"], "PriorityClassNotAllowed")


class Volumes(Tenants):
    """kube-scheduler selects a node for a pod whose volume is being made, for up to ten minutes; the pod itself does
    not show it."""

    def setUp(self):
        super().setUp()
        storage = client.StorageV1Api(support.api_client())
        storage.create_storage_class({"metadata": {"name": CLASS}, "provisioner": "e2e.invalid/never",
                                      "volumeBindingMode": "WaitForFirstConsumer"})
        self.addCleanup(storage.delete_storage_class, CLASS)

    def volume(self, name, annotations=None):
        self.core.create_namespaced_persistent_volume_claim(self.namespace, {
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": CLASS,
                     "resources": {"requests": {"storage": "9Ei"}}}})

    @staticmethod
    def with_volume(name):
        body = bare(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])
        body["spec"]["containers"][0]["resources"] = {"limits": {GPU: 8}}
        return body

    def take(self, count):
        for number in range(count):
            self.volume(f"slow-{number}")
            self.core.create_namespaced_pod(self.namespace, self.with_volume(f"slow-{number}"))
        def chosen():
            claims = self.core.list_namespaced_persistent_volume_claim(self.namespace).items
            return [each for each in claims if "volume.kubernetes.io/selected-node" in (each.metadata.annotations or {})]
        support.await_value(chosen, lambda found: len(found) == count, "kube-scheduler has chosen their nodes")

    def test_nodes_that_a_claim_names_and_kube_scheduler_does_not(self):
        """The claim's owner writes the annotation of the selected node; pods that kube-scheduler holds back use
        nothing."""
        for number in range(4):
            name = f"said-{number}"
            self.volume(name, {"volume.kubernetes.io/selected-node": kwok.node_name(number)})
            body = self.with_volume(name)
            body["spec"].update(never_bound())
            self.core.create_namespaced_pod(self.namespace, body)
        self.is_placed(self.submits("gang", role(replicas=4, gpus=8)))

    def test_two_nodes_of_four(self):
        self.take(2)
        self.is_placed(self.submits("gang", role(replicas=2, gpus=8)))

    def test_all_nodes(self):
        """Its attempts could be aborted one after the other, with messages that name no pod."""
        self.take(4)
        key = self.submits("gang", role(replicas=2, gpus=8))
        time.sleep(BAR_FOR_WORDS)
        status = self.jobs.objects[key]["status"]
        self.assertEqual(status["pending"]["reason"], "WaitingForCapacity")
        self.assertIn(self.namespace, json.dumps(status["pending"]))
        self.assertNotIn("backoff", status.get("gang", {}))

