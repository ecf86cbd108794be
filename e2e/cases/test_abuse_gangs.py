"""A tenant whose pods name the gang of another user, and Gangs that tenants write by hand. Each docstring states what the
tenant may or may not do.

    e2e/run abuse_gangs
"""
import json
import time

import support
from gang_case import GANG, PLACE, QUEUE, GangCase, gates
from lib.errors import E2EError
from support import GPU, core, given, kubectl, node_of, phase
from tenants import MALLORY, install_chart

CLUSTER = {"nodes": 4}  # of 8 GPUs
RUNS = "whole"
# How long a pod that must not start is watched.
BAR = 5


def setUpModule():
    install_chart(also=["admission-workloads"])


def pod(name, gang=None, gpus=8, size=None, node=None, labels=None, notes=None, gated=True):
    body = support.pod(name, gpus, node=node)
    body["metadata"]["labels"] = {**({QUEUE: "default", GANG: gang} if gang else {}), **(labels or {})}
    body["metadata"]["annotations"] = {**({"trainyard.dev/gang-size": str(size)} if size else {}), **(notes or {})}
    if gated:
        body["spec"]["schedulingGates"] = [PLACE]
    return body


def batch_job(name, pods, gpus=8, **template):
    spec = pod("x", gpus=gpus, gated=False)["spec"]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: "default"}}, "spec": {
        "suspend": True, "completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
        "template": {**template, "spec": {**spec, "restartPolicy": "Never", **template.get("spec", {})}}}}


def gang(name, owner=None, pods=1, **more):
    body = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "Gang", "metadata": {"name": name}, "spec": {"roles": [
        {"name": "worker", "replicas": pods, "template": {"spec": {"containers": [
            {"name": "c", "resources": {"limits": {GPU: 8}}}]}}}]}, **more}
    if owner:
        body["spec"]["owner"] = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                                 "uid": owner["metadata"]["uid"]}
    return body


class Hostile(GangCase):
    """self.namespace is shared by its users, mallory among them; self.other is mallory's alone."""

    def setUp(self):
        super().setUp()
        self.other = self.make_namespace(f"{self.namespace}-other"[:63])
        for namespace in (self.namespace, self.other):
            kubectl("create", "rolebinding", MALLORY, "-n", namespace, "--clusterrole=edit", f"--user={MALLORY}")
            self.addCleanup(kubectl, "delete", "jobs.batch,gangs", "--all", "-n", namespace, "--wait=false")
        support.await_value(self.may_create, bool, "the roles are aggregated")
        self.pods, self.gangs = support.watch_pods(), support.watch_gangs(self.namespace)
        for each in (self.pods, self.gangs):
            self.addCleanup(each.stop, quiet=True)

    def may_create(self):
        asked = {"group": "trainyard.dev", "resource": "gangs", "verb": "create", "namespace": self.other}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": MALLORY, "resourceAttributes": asked}}
        return given().api.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    def attack(self, *bodies, namespace=None):
        for body in bodies:
            self.as_mallory("create", "-f", "-", input=json.dumps(body), namespace=namespace)

    def as_mallory(self, *args, namespace=None, **options):
        return kubectl(*args, "-n", namespace or self.namespace, f"--as={MALLORY}", **options)

    def refused(self, words, *args, **options):
        with self.assertRaises(E2EError) as caught:
            self.as_mallory(*args, **options)
        self.assertIn(words, str(caught.exception))

    def never_starts(self, name, namespace=None):
        """The pod keeps its gate, and is bound to no node."""
        key, until = (namespace or self.namespace, name), time.monotonic() + BAR
        self.pods.wait(lambda all_: key in all_, f"{name} is there")
        while time.monotonic() < until:
            self.assertEqual(([PLACE["name"]], None), (gates(self.pods.objects[key]), node_of(self.pods.objects[key])))
            time.sleep(0.2)

    def starts(self, name, namespace=None):
        key = (namespace or self.namespace, name)
        return self.pods.wait(lambda all_: phase(all_.get(key)) == "Running" and all_[key], f"{name} runs")


class Pods(Hostile):
    """Who can create pods in a namespace could create the gang as well: within it, users trust each other."""

    def waiting_for_one(self, gpus=8, size=2):
        """The gang of another user, of which all but one pod run."""
        self.create(*[pod(f"mine-{i}", "shared", gpus=gpus, size=size) for i in range(size - 1)])
        for i in range(size - 1):
            self.starts(f"mine-{i}")
        self.gang(self.gangs, "shared.pods", "Starting")

    def test_a_free_place(self):
        """It may take it: the place is charged to the gang's queue, and the gang is whole then."""
        self.waiting_for_one()
        self.attack(pod("hostile", "shared"))
        self.starts("hostile")
        self.gang(self.gangs, "shared.pods", "Running")

    def test_a_free_place_with_larger_requests(self):
        """It may not take more than the place has, though its node has more, nor keep the gang from its own pod."""
        self.waiting_for_one(gpus=4)
        self.attack(pod("hostile", "shared", gpus=8))
        self.never_starts("hostile")
        self.create(pod("mine-1", "shared", gpus=4, size=2))
        self.starts("mine-1")
        self.gang(self.gangs, "shared.pods", "Running")
        self.never_starts("hostile")

    def test_all_places_are_filled(self):
        """It waits, though nodes are free: the gang does not grow."""
        self.create(*[pod(f"mine-{i}", "shared", size=2) for i in range(2)])
        self.gang(self.gangs, "shared.pods", "Running")
        self.attack(pod("hostile", "shared"))
        self.never_starts("hostile")

    def test_a_gang_of_a_job(self):
        """It may not join a Job's gang that has all its pods."""
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(batch_job("train", 2)))
        self.gang(self.gangs, "train.job", "Running")
        self.attack(pod("hostile", "train.job"))
        self.never_starts("hostile")
        self.assertEqual("2/2", self.gang(self.gangs, "train.job", "Running")["status"]["ready"])

    def test_another_namespace(self):
        """It gets no place of a gang elsewhere: its own namespace has none of that name."""
        self.waiting_for_one()
        self.attack(pod("hostile", "shared.pods", notes={"trainyard.dev/gang-namespace": self.namespace}), pod("job", "train.job"),
                    namespace=self.other)
        self.never_starts("job", self.other)
        mine = self.gang(self.gangs, "shared.pods", "Starting")
        self.assertEqual("1/2", mine["status"]["ready"])
        with support.watch_gangs(self.other) as theirs:
            self.assertFalse([name for _, name in theirs.objects if name == "train.job"])

    def test_a_gang_of_the_same_name_elsewhere_is_another_gang(self):
        """It is charged for pods of its own, on nodes that are free."""
        self.waiting_for_one(size=4)
        self.attack(pod("hostile", "shared", size=1), namespace=self.other)
        self.never_starts("hostile", self.other)
        self.create(pod("mine-3", "shared", size=4))
        self.starts("mine-3")
        self.gang(self.gangs, "shared.pods", "Running")


class Forged(Hostile):
    def forged(self, name, gated=False):
        """The labels that the operator writes at a release, and its pin."""
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(batch_job("train", 2)))
        found = self.gang(self.gangs, "train.job", "Running")
        labels = {"trainyard.dev/job-name": "train.job", "trainyard.dev/job-uid": found["metadata"]["uid"],
                  "trainyard.dev/role": "worker", "trainyard.dev/index": "1", "trainyard.dev/epoch": "1"}
        return pod(name, "train.job", labels=labels, gated=gated)

    def test_labels_of_a_member_without_a_gate(self):
        """It may not set them: every single one is refused."""
        body = self.forged("hostile")
        self.refused("are the operator's", "create", "-f", "-", input=json.dumps(body))
        for key in ("job-name", "job-uid", "role", "index", "epoch"):
            one = pod("hostile", labels={f"trainyard.dev/{key}": body["metadata"]["labels"][f"trainyard.dev/{key}"]}, gated=False)
            with self.subTest(key):
                self.refused("are the operator's", "create", "-f", "-", input=json.dumps(one))

    def test_labels_of_a_member_later(self):
        """It may not add them to a pod that waits, nor take them from one that runs."""
        body = self.forged("hostile", gated=True)
        forged = body["metadata"]["labels"]
        self.attack(pod("hostile", "train.job"))
        self.refused("are the operator's", "label", "pod", "hostile", *[f"{key}={value}" for key, value in forged.items()], "--overwrite")
        member = next(name for space, name in self.pods.objects if space == self.namespace and name.startswith("train-"))
        self.refused("are the operator's", "label", "pod", member, "trainyard.dev/job-uid-", "trainyard.dev/index=0", "--overwrite")

    def test_a_pod_that_removes_its_own_gate(self):
        """It may not: it would run outside of the queue."""
        self.create(*[pod(f"mine-{i}", "shared", size=2) for i in range(2)])
        self.gang(self.gangs, "shared.pods", "Running")
        self.attack(pod("hostile", "shared"))
        for gates_ in ("[]", "null"):
            self.refused("the operator removes the scheduling gate", "patch", "pod", "hostile", "--type=merge",
                         "-p", f'{{"spec":{{"schedulingGates":{gates_}}}}}')
        self.never_starts("hostile")

    def test_a_pod_without_the_gate(self):
        """It may not name a gang or a queue without waiting for a place."""
        for labels in ({GANG: "shared"}, {QUEUE: "default"}, {GANG: "shared", QUEUE: "default"}):
            self.refused("needs spec.schedulingGates", "create", "-f", "-",
                         input=json.dumps(pod("hostile", labels=labels, gated=False)))

    def test_a_job_whose_template_forges_them(self):
        """It may be created, but its controller's pods are refused, and say why."""
        labels = self.forged("x")["metadata"]["labels"]
        body = batch_job("hostile", 1, metadata={"labels": labels})
        body["metadata"]["labels"] = {"app": "hostile"}
        body["spec"]["suspend"] = False
        self.attack(body)
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace, "--field-selector=involvedObject.name=hostile"),
                            lambda text: "are the operator's" in text, "its controller is refused")
        self.assertFalse([name for _, name in self.pods.objects if name.startswith("hostile")])

    def test_a_job_in_a_queue_whose_template_forges_them(self):
        """The same, and it holds no node longer than its attempt."""
        labels = self.forged("x")["metadata"]["labels"]
        self.attack(batch_job("hostile", 1, metadata={"labels": labels}))
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace), lambda text: "are the operator's" in text,
                            "its controller is refused")
        self.assertFalse([name for _, name in self.pods.objects if name.startswith("hostile")])
        self.assertEqual("2/2", self.gang(self.gangs, "train.job", "Running")["status"]["ready"])


class ByHand(Hostile):
    """Gangs that a tenant writes."""

    def victim(self, pods=4):
        """The Job of another user, which waits for its nodes."""
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("first", replicas=2))
            support.wait_phase(jobs, self.namespace, "first", "Running")
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(batch_job("train", pods)))
        self.gang(self.gangs, "train.job", "Queued")
        return self.job()

    def job(self):
        return given().json("get", "job", "train", "-n", self.namespace)

    def stays_suspended(self):
        until = time.monotonic() + BAR
        while time.monotonic() < until:
            self.assertTrue(self.job()["spec"]["suspend"], "a Gang that is not the Job's own has started it")
            time.sleep(0.3)

    def test_the_owner_is_in_another_namespace(self):
        """It may not start it."""
        self.attack(gang("fake.job", self.victim()), namespace=self.other)
        self.stays_suspended()

    def test_the_owner_is_anothers_in_the_same_namespace(self):
        """It may not start it: the Job has a Gang of its own, which waits."""
        self.attack(gang("fake.job", self.victim()))
        self.stays_suspended()

    def test_the_owner_runs(self):
        """It may not stop it."""
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(batch_job("train", 2)))
        self.gang(self.gangs, "train.job", "Running")
        fake = gang("fake.job", self.job())
        self.attack(fake)
        self.gangs.wait(lambda all_: phase(all_.get((self.namespace, "fake.job"))), "it is seen")
        self.as_mallory("patch", "gang", "fake.job", "--type=merge", "-p", '{"spec":{"hold":true}}')
        until = time.monotonic() + BAR
        while time.monotonic() < until:
            self.assertFalse(self.job()["spec"]["suspend"], "a Gang that is not the Job's own has stopped it")
            time.sleep(0.3)
        self.assertEqual("2/2", self.gang(self.gangs, "train.job", "Running")["status"]["ready"])

    def test_the_name_of_a_gang_to_be(self):
        """It may take a name first: the Job waits, and its user learns why."""
        self.attack(gang("train.job", pods=4))
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(batch_job("train", 2)))
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace, "--field-selector=involvedObject.kind=Job,involvedObject.name=train"),
                            lambda text: "train.job" in text, "an Event of the Job names the Gang", 20)
        self.assertTrue(self.job()["spec"]["suspend"])
        self.as_mallory("delete", "gang", "train.job", "--wait=false")
        self.gangs.wait(lambda all_: all_.get((self.namespace, "train.job"), {}).get("spec", {}).get("owner", {}).get("name") == "train",
                        "the Job has its own Gang")
        self.gang(self.gangs, "train.job", "Running")

    def test_status(self):
        """It may not write one, neither at creation nor later."""
        record = {"gang": {"lastEpoch": 1, "placed": {"epoch": 1, "assignments": [
            {"role": "worker", "indices": "0-3", "node": f"n000{i}"} for i in range(4)]}}, "phase": "Running"}
        self.attack(gang("fake.pods", pods=4, status=record))
        found = self.gangs.wait(lambda all_: phase(all_.get((self.namespace, "fake.pods"))) and all_[(self.namespace, "fake.pods")], "it is seen")
        self.assertNotIn("placed", found["status"].get("gang", {}))
        self.refused("forbidden", "patch", "gang", "fake.pods", "--subresource=status", "--type=merge", "-p", json.dumps({"status": record}))

    def test_finalizers(self):
        """It may have some, which hold no nodes; not many, and it may not take off the operator's."""
        self.refused("more than 16", "create", "-f", "-", input=json.dumps(
            gang("many.pods", metadata={"name": "many.pods", "finalizers": [f"example.com/{i}" for i in range(17)]})))
        self.attack(gang("kept.pods", pods=4, metadata={"name": "kept.pods", "finalizers": ["example.com/keep"]}))
        self.addCleanup(kubectl, "patch", "gang", "kept.pods", "-n", self.namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.attack(*[pod(f"p-{i}", "kept.pods") for i in range(4)])
        self.gang(self.gangs, "kept.pods", "Running")
        self.refused("the operator removes the finalizer", "patch", "gang", "kept.pods", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.as_mallory("delete", "gang", "kept.pods", "--wait=false")
        self.gangs.wait(lambda all_: all_[(self.namespace, "kept.pods")]["metadata"]["finalizers"] == ["example.com/keep"],
                        "the operator's finalizer is gone")
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("after", replicas=4))
            support.wait_phase(jobs, self.namespace, "after", "Running")


del Hostile
