"""Forged pods: with a gang's labels, with its owner, under its members' names, of a foreign kind TrainingJob, in its own
namespace or in another. None of them gets a reserved node, none reserves anything, and none counts as a member.
"""
import unittest

import support
from lib.invariants import node_of, phase_of, uid_of
from phases import NAME, SIZE, PhaseCase
from support import GROUP, VERSION, condition, given

RUNS = "whole"
CLUSTER = {"nodes": 6}
KEEP = "e2e.invalid/keep"


class Spoofing(PhaseCase):
    def setUp(self):
        super().setUp()
        support.start_second_scheduler()

    # ---- forged pods

    def forged_pod(self, name, gpus=8, member=0, node=None, owner=None, pin=None, keep=False, epoch=None):
        """A foreign pod with the labels of a member of the gang. owner: changes of a copied controller reference; pin:
        a node, as a released member is pinned; keep: a foreign finalizer, so that it stays."""
        job = self.job()
        body = support.pod(name, gpus, node=node, scheduler=support.SECOND_SCHEDULER)
        if not gpus:
            body["spec"]["containers"][0].pop("resources")
        body["metadata"]["labels"] = {
            "trainyard.dev/job-name": NAME, "trainyard.dev/job-uid": uid_of(job), "trainyard.dev/role": "worker",
            "trainyard.dev/index": str(member), "trainyard.dev/epoch": str(epoch or self.gang()["lastEpoch"])}
        if owner is not None:
            body["metadata"]["ownerReferences"] = [{
                "apiVersion": f"{GROUP}/{VERSION}", "kind": "TrainingJob", "name": NAME, "uid": uid_of(job),
                "controller": True, **owner}]
        if keep:
            body["metadata"]["finalizers"] = [KEEP]
        if pin:
            body["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [pin]}]}]}}}
        return body

    def send(self, namespace, body):
        support.core().create_namespaced_pod(namespace, body)
        self.addCleanup(self.remove, namespace, body["metadata"]["name"])
        return namespace, body["metadata"]["name"]

    def remove(self, namespace, name):
        for step in (lambda: support.core().patch_namespaced_pod(
                         name, namespace, {"metadata": {"finalizers": None}}),
                     lambda: support.core().delete_namespaced_pod(name, namespace, grace_period_seconds=0)):
            try:
                step()
            except support.client.exceptions.ApiException as error:
                if error.status != 404:
                    raise

    def refused_or_gone(self, keys):
        """Waits until each pod was refused its node, or was deleted by a clean-up; none was bound."""
        def refused(key):
            pod = self.seen.pods.get(key)
            found = condition(pod, "PodScheduled") if pod else None
            return not pod or found and found["status"] == "False" and found.get("reason") in (
                "Unschedulable", "SchedulerError") or "deletionTimestamp" in pod["metadata"]
        self.wait(lambda: all(map(refused, keys)), f"{keys} are refused or gone")

    def never_bound(self, keys):
        """None of these pods ever had a node, as the watch shows."""
        for key in keys:
            pod = self.seen.pods.get(key)
            self.assertFalse(pod and node_of(pod), self.seen.digest())

    # ---- cases

    def test_onto_reserved_nodes(self):
        """All nodes of the cluster are the gang's, and none of its members is bound: its scheduler is stopped."""
        other = self.make_namespace(f"{self.namespace}-other")
        with self.standing_still("kube-scheduler"):
            self.create(replicas=6)
            self.wait(lambda: len(self.members()) == 6 and phase_of(self.job()) == "Starting", "its pods exist")
            foreign = {"apiVersion": "example.com/v1"}
            sent = [
                self.send(other, self.forged_pod("labels-alone")),
                self.send(self.namespace, self.forged_pod("labels-at-home")),
                self.send(other, self.forged_pod("copied-owner", owner={}, keep=True)),
                self.send(other, self.forged_pod(f"{NAME}-worker-0", owner={}, keep=True, node=self.assigned_node(0))),
                self.send(other, self.forged_pod(f"{NAME}-worker-1", node=self.assigned_node(1), member=1)),
                self.send(self.namespace, self.forged_pod("copied-owner", owner={}, keep=True)),
                self.send(self.namespace, self.forged_pod(f"{NAME}-worker-0-copy", owner={}, node=self.assigned_node(0))),
                self.send(self.namespace, self.forged_pod(f"{NAME}-worker-00", owner={}, pin=self.assigned_node(0))),
                self.send(self.namespace, self.forged_pod(f"{NAME}-worker-6", owner={}, member=6)),
                self.send(self.namespace, self.forged_pod("another-group", owner=foreign, node=self.assigned_node(0))),
                self.send(other, self.forged_pod("another-uid", owner={"uid": "no-such-job"})),
            ]
            self.refused_or_gone(sent)
            self.never_bound(sent)
        self.whole()
        self.never_bound(sent)
        self.assertEqual(self.gang()["placed"]["epoch"], 1, self.story())

    def assigned_node(self, member):
        for each in self.gang()["proposal"]["add"]:
            if str(member) in each["indices"].split(","):
                return each["node"]
        return None

    def test_no_pod_takes_a_node_with_forged_labels(self):
        """Small pods that request no GPU, bound to the gang's nodes, claim to be its members. If they counted as such,
        the assignments would be filled by their small requests, and a foreign pod could use the GPUs."""
        other = self.make_namespace(f"{self.namespace}-other")
        with self.held("creating"):
            sent = []
            for member in range(SIZE):
                node = self.assigned_node(member)
                # A clean-up deletes them; their finalizers keep them where they are.
                sent.append(self.send(other, self.forged_pod(
                    f"{NAME}-worker-{member}", gpus=0, member=member, node=node, owner={}, keep=True)))
                sent.append(self.send(self.namespace, self.forged_pod(
                    f"copy-{member}", gpus=0, member=member, node=node, owner={}, keep=True)))
            self.wait(lambda: all(node_of(self.seen.pods.get(key, {"spec": {}})) for key in sent[::2]) or
                      all("deletionTimestamp" in self.seen.pods.get(key, {"metadata": {}})["metadata"]
                          for key in sent[::2]), "they are bound or being deleted")
            plain_pods = [self.send(other, support.pod(f"foreign-{i}", 8, scheduler=support.SECOND_SCHEDULER))
                          for i in range(3)]
            # Two nodes are free, four are the gang's.
            self.wait(lambda: all(key in self.seen.pods for key in plain_pods) and
                      sum(1 for key in plain_pods if node_of(self.seen.pods[key])) == 2,
                      "two foreign pods are bound")
            left = [key for key in plain_pods if not node_of(self.seen.pods[key])]
            self.refused_or_gone(left)
            assigned = [self.assigned_node(member) for member in range(SIZE)]
            self.assertTrue(all(node_of(self.seen.pods[key]) not in assigned for key in plain_pods))
        self.assertEqual(self.whole(), sorted(assigned))
        self.assertEqual(self.gang()["placed"]["epoch"], 1, self.story())
        self.assertIsNone(node_of(self.seen.pods[left[0]]))

    def test_no_pod_reserves_a_node_with_forged_labels(self):
        """Pinned as released members are, and never bound: their scheduler does not exist. Other pods are bound."""
        other = self.make_namespace(f"{self.namespace}-other")
        self.create(replicas=1, gpus=1)
        self.whole()
        foreign = {"apiVersion": "example.com/v1"}
        free = sorted(set(self.seen.nodes) - set(self.whole()))
        sent = []
        for index, node in enumerate(free):
            for namespace, name, owner in ((self.namespace, f"copy-{index}", {}), (other, f"copy-{index}", {}),
                                           (other, f"foreign-{index}", foreign), (other, f"labels-{index}", None)):
                body = self.forged_pod(name, owner=owner, pin=node, keep=True)
                body["spec"]["schedulerName"] = "no-such-scheduler"
                sent.append(self.send(namespace, body))
        self.wait(lambda: all(key in self.seen.pods for key in sent), "all of them exist")
        plain_pods = [self.send(other, support.pod(f"foreign-{node}", 8, node=node)) for node in free]
        self.wait(lambda: all(node_of(self.seen.pods.get(key, {"spec": {}})) for key in plain_pods),
                  "foreign pods are bound where only forged pods are")

    def test_a_forged_pod_of_a_single_pod_job_holds_nothing(self):
        """Such a pod is its job's record. A forged one exists before the operator's, pinned where its author chose, and
        is not bound. It holds nothing, is deleted, and the job gets a node all the same."""
        node = sorted(self.seen.nodes)[0]
        support.create_job(self.namespace, support.job(NAME, replicas=1, run={"suspend": True}))
        self.wait(self.job, "the job is there")
        body = self.forged_pod(f"{NAME}-worker-0", owner={}, pin=node, epoch=1)
        body["spec"]["schedulerName"] = "no-such-scheduler"
        forged = self.send(self.namespace, body)
        self.wait(lambda: forged not in self.seen.pods, "it is deleted")
        plain = self.send(self.namespace, support.pod("plain", 8, node=node))
        self.wait(lambda: node_of(self.seen.pods.get(plain, {"spec": {}})), "its node is free for other pods")
        support.kubectl("patch", "trainingjob", NAME, "-n", self.namespace, "--type=merge",
                        "-p", '{"spec": {"run": {"suspend": false}}}')
        self.assertNotEqual([node], list(self.whole()))

    def test_the_real_owner_of_a_name_in_another_namespace(self):
        """Two jobs of the same name and members in two namespaces have nothing to do with each other."""
        other = self.make_namespace(f"{self.namespace}-other")
        self.create(replicas=2)
        support.create_job(other, support.job(NAME, replicas=2))
        self.whole()
        self.wait(lambda: phase_of(self.seen.job(other, NAME)) == "Running", "the other runs as well")
        before = self.uids()
        support.delete_job(other, NAME)
        self.seen.gone(other)
        self.assertEqual(self.uids(), before)


if __name__ == "__main__":
    unittest.main()
