"""Groups of LeaderWorkerSets, made by their real controller, as gangs. Run only by name: building the controller takes
minutes.
"""
import json

import support
from gang_case import PLACE, QUEUE, GangCase, gates
from lib import controllers
from support import GPU, core, given, kubectl, node_of, phase

CLUSTER = {"nodes": 4, "workloads": True, "kinds": ["Job", "LeaderWorkerSet"]}  # nodes of 8 GPUs
TOOLS = ["lws"]
RUNS = "whole"
GROUP = "leaderworkerset.sigs.k8s.io/group-index"


def template(name, gpus):
    limits = {"resources": {"limits": {GPU: gpus}}} if gpus else {}
    return {"metadata": {"labels": {QUEUE: "default"}},
            "spec": {"schedulingGates": [PLACE], "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": name, "image": name, **limits}]}}


class LeaderWorkerSets(GangCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        controllers.start(given(), "lws")

    def apply(self, replicas, size, policy="LeaderCreated"):
        body = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "llm"},
                "spec": {"replicas": replicas, "startupPolicy": policy, "leaderWorkerTemplate": {
                    "size": size, "leaderTemplate": template("leader", 0), "workerTemplate": template("worker", 8)}}}
        kubectl("create", "--validate=false", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        self.addCleanup(kubectl, "delete", "leaderworkerset", "llm", "-n", self.namespace, "--ignore-not-found")

    def scale(self, replicas):
        kubectl("patch", "leaderworkerset", "llm", "-n", self.namespace, "--type=merge", "-p",
                json.dumps({"spec": {"replicas": replicas}}))

    @staticmethod
    def of_group(pods, group):
        return [pod for pod in pods.values() if pod["metadata"]["labels"].get(GROUP) == str(group)]

    def await_group(self, pods, group, size):
        def runs(objects):
            found = self.of_group(objects, group)
            return len(found) == size and all(phase(pod) == "Running" for pod in found) and found
        return pods.wait(runs, f"group {group} runs")

    def test_workers_that_are_made_once_their_leader_runs_find_their_places_kept(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(1, 4, "LeaderReady")
            found = self.await_group(pods, 0, 4)
            gang = self.gang(gangs, "llm-0.group", "Running")
            self.assertEqual([("leader", 1), ("worker", 3)], [(role["name"], role["replicas"]) for role in gang["spec"]["roles"]])
            self.assertEqual(3, len({node_of(pod) for pod in found if pod["spec"]["containers"][0]["name"] == "worker"}))

    def test_a_group_waits_whole_and_another_one_runs(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(2, 4)
            self.await_group(pods, 0, 4)
            gang = self.gang(gangs, "llm-1.group", "Queued")
            self.assertEqual("WaitingForCapacity", gang["status"]["pending"]["reason"])
            self.assertIn("llm-0.group", gang["status"]["pending"]["message"])
            self.assertTrue(all(gates(pod) for pod in self.of_group(pods.objects, 1)))
            self.scale(1)
            gangs.wait(lambda all_: (self.namespace, "llm-1.group") not in all_, "the second Gang is gone")
            self.gang(gangs, "llm-0.group", "Running")

    def test_a_group_that_is_made_again_returns_to_its_places(self):
        with support.watch_pods(self.namespace) as pods, support.watch_gangs(self.namespace) as gangs:
            self.apply(1, 4)
            before = self.await_group(pods, 0, 4)
            self.gang(gangs, "llm-0.group", "Running")
            lost = [pod for pod in before if pod["spec"]["containers"][0]["name"] == "worker"][0]
            core().delete_namespaced_pod(lost["metadata"]["name"], self.namespace, grace_period_seconds=0)
            uids = {pod["metadata"]["uid"] for pod in before}
            # By default its controller makes the whole group again.
            pods.wait(lambda all_: not any(pod["metadata"]["uid"] in uids for pod in all_.values()), "no pod of before is left")
            after = self.await_group(pods, 0, 4)
            self.assertEqual({node_of(pod) for pod in before}, {node_of(pod) for pod in after})
            self.gang(gangs, "llm-0.group", "Running")
