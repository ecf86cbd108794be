"""The real Karpenter creates the nodes that placeholders stand for, and removes them after the gang. Its machines are nodes
that kwok simulates. Run only by name: building Karpenter takes minutes.
"""
import json

import support
from autoscaling_case import AutoscalingCase
from support import GPU, core, custom, given, job, kubectl, wait_phase

from lib import kwok, tools
from lib.api import ApiError

CLUSTER = {"nodes": 2}  # of 8 GPUs
TOOLS = ["karpenter"]
RUNS = "whole"
MODULE = "sigs.k8s.io/karpenter"
MADE = "karpenter.sh/nodepool"  # the label of a node that Karpenter has made
# One kind of machine, with 8 GPUs.
MACHINES = [{"name": "gpu-8", "architecture": "amd64", "operatingSystems": ["linux"],
             "offerings": [{"capacityType": "on-demand", "zone": "z0", "price": 1.0}],
             "resources": {"cpu": "96", "memory": "1Ti", "ephemeral-storage": "1Ti", "pods": "110", GPU: "8"}}]
CLASS = {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "machines"}}
PATIENCE = 120


def pool(limit):
    """A NodePool of at most so many GPUs."""
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpus"}, "spec": {
        "limits": {GPU: str(limit)},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "5s"},
        "template": {"metadata": {"labels": {kwok.LIVE_LABEL: "live"}}, "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "machines"},
            "requirements": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}}}}


class Karpenter(AutoscalingCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tools.module_folder("karpenter", MODULE)
        for definitions in ("pkg/apis/crds", "kwok/apis/crds"):
            kubectl("apply", "--server-side", "-f", str(folder / definitions))
        kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        machines = given().dir / "machines.json"
        machines.write_text(json.dumps(MACHINES))
        metrics, health = given().spare_ports.pop(0), given().spare_ports.pop(0)
        given().run("karpenter", [
            "/usr/bin/env", f"KUBECONFIG={given().kubeconfig}", "SYSTEM_NAMESPACE=kube-system",
            tools.only("karpenter")["karpenter"], f"--instance-types-file-path={machines}", "--disable-leader-election=true",
            f"--metrics-port={metrics}", f"--health-probe-port={health}", "--karpenter-service=karpenter"],
            ready=f"http://127.0.0.1:{health}/healthz", timeout=60)
        kubectl("apply", "-f", "-", input=json.dumps(CLASS))

    def allow(self, gpus):
        kubectl("apply", "-f", "-", input=json.dumps(pool(gpus)))
        self.addCleanup(kubectl, "delete", "nodepool", "gpus", "--timeout=60s")

    @staticmethod
    def made():
        return [node.metadata.name for node in core().list_node(label_selector=MADE).items]

    def test_a_gang_gets_the_nodes_that_it_lacks_and_leaves_none_behind(self):
        self.allow(64)
        self.ask_with("PlaceholderPods")
        support.create_job(self.namespace, job("large", replicas=5, gpus=8))
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.await_report(jobs, "large", "Asked")
            wait_phase(jobs, self.namespace, "large", "Running", PATIENCE)
            pods.wait(lambda all_: len(all_) == 5 and all("-nodes-" not in key[1] for key in all_), "only members are left")
            self.assertEqual(5, len({support.node_of(each) for each in pods.objects.values()}))
        self.assertGreaterEqual(len(self.made()), 3)
        support.delete_job(self.namespace, "large")
        support.await_value(self.made, lambda left: not left, "Karpenter takes its nodes away", PATIENCE)

    def test_a_pool_that_is_too_small_gives_part_of_the_nodes_and_the_whole_gang_waits(self):
        self.allow(8)
        self.ask_with("PlaceholderPods")
        support.create_job(self.namespace, job("larger", replicas=5, gpus=8))
        with support.watch_jobs(self.namespace) as jobs:
            self.await_report(jobs, "larger", "Asked")
            support.await_value(self.made, lambda all_: len(all_) == 1, "the pool's only node is made", PATIENCE)
            status = jobs.wait(lambda all_: (all_[(self.namespace, "larger")]["status"].get("pending") or {}).get("reason"),
                               "it reports why it is pending")
            self.assertIn(status, ("WaitingForCapacity", "TooLarge"))
            bound = [pod.metadata.name for pod in core().list_namespaced_pod(self.namespace).items if pod.spec.node_name]
            self.assertEqual([], bound)
        support.delete_job(self.namespace, "larger")
        support.await_value(self.made, lambda left: not left, "Karpenter takes its node away", PATIENCE)
