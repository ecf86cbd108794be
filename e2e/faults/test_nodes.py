"""Trouble with a node in every phase of a gang's life: before all members are bound the whole gang goes elsewhere; after that
a node that is cordoned, not ready for a while or without devices for a moment harms no gang, and a gang that loses members
restarts as a whole.
"""
import contextlib
import time
import unittest

import support
from lib import kwok
from lib.errors import E2EError
from lib.invariants import node_of, pinned_to
from phases import ALL, NAME, WHOLE, PhaseCase
from support import GPU, given, kubectl

RUNS = "whole"
CLUSTER = {"nodes": 6}
SHAPE = kwok.Shape()
FAULTS = ("deleted", "cordoned", "drained", "unready", "shrunk")
# A fault of some length is looked at for so long.
LENGTH = 10
# PodGC looks every 20 s for pods of nodes that have been gone for 40 s.
GONE_SECONDS = 180


class Fault:
    """What happens to a node, and how it ends."""

    def __init__(self, kind, node, seen):
        self.kind, self.node, self._seen = kind, node, seen
        self._struck = False

    def strike(self):
        self._struck = True
        getattr(self, "_" + self.kind)()

    def heal(self):
        if not self._struck:
            return
        self._struck = False
        getattr(self, "_heal_" + self.kind)()
        self._seen.wait(lambda: self._good(self._seen.nodes.get(self.node)), f"{self.node} is good again")

    @staticmethod
    def _good(node):
        return (node and kwok.is_ready(node) and not node["spec"].get("unschedulable")
                and node["status"]["allocatable"].get(GPU) == "8" and not node["spec"].get("taints"))

    def _wait(self, predicate, what):
        self._seen.wait(lambda: predicate(self._seen.nodes.get(self.node)), f"{self.node} is {what}")

    def _deleted(self):
        support.core().delete_node(self.node)
        self._wait(lambda node: not node, "gone")

    def _heal_deleted(self):
        kwok.create_nodes(given().api, [int(self.node[1:])], SHAPE)

    def _cordoned(self):
        kubectl("cordon", self.node)
        self._wait(lambda node: node["spec"].get("unschedulable"), "cordoned")

    def _heal_cordoned(self):
        kubectl("uncordon", self.node)

    def _drained(self):
        # Where the kubelets stand still the pods do not go, and it gives up after it has asked for it.
        with contextlib.suppress(E2EError):
            kubectl("drain", self.node, "--ignore-daemonsets", "--timeout=3s")
        self._wait(lambda node: node["spec"].get("unschedulable"), "cordoned")

    _heal_drained = _heal_cordoned

    def _unready(self):
        """Its kubelet is unreachable; then its status is set so, without the usual 50 s in between."""
        given().crash_node(self.node)

        def patched():
            support.core().patch_node_status(self.node, {"status": {"conditions": [
                {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "by the test"}]}})
            return self._seen.nodes[self.node]
        # With the taint, too, by which kube-scheduler knows it: it does not look at conditions.
        support.await_value(patched, lambda node: not kwok.is_healthy(node) and node["spec"].get("taints"),
                            f"{self.node} is not ready")

    def _heal_unready(self):
        given().revive_node(self.node)

    def _shrunk(self):
        """As a device plug-in does that restarts."""
        self._allocatable("0")

    def _heal_shrunk(self):
        self._allocatable("8")

    def _allocatable(self, count):
        support.core().patch_node_status(self.node, {"status": {"allocatable": {GPU: count}}})
        self._wait(lambda node: node["status"]["allocatable"].get(GPU) == count, f"left with {count} GPUs")


class Nodes(PhaseCase):
    def strike(self, kind, node):
        fault = Fault(kind, node, self.seen)
        fault.strike()
        self.addCleanup(fault.heal)
        return fault

    def assigned_node(self, member):
        """The node on which the gang's member is or will be."""
        pod = self.members()[f"{NAME}-worker-{member}"]
        if node_of(pod) or pinned_to(pod):
            return node_of(pod) or pinned_to(pod)
        for each in self.gang()["proposal"]["add"]:
            if str(member) in each["indices"].split(","):
                return each["node"]
        raise AssertionError(f"no place is recorded for {member}: {self.gang()}")

    def steady(self, before, seconds=0):
        """No member of the gang is touched for so long from now, nor has been since before."""
        ends = time.monotonic() + seconds

        def check():
            now = self.uids()
            going = [name for name, pod in self.members().items() if "deletionTimestamp" in pod["metadata"]]
            if now != before or going or self.gang().get("proposal"):
                raise AssertionError(f"members were touched: {before} became {now}, {going} are going, "
                                     f"{self.gang()}\n{self.seen.digest()}")
            return time.monotonic() >= ends
        self.wait(check, "no member is touched", seconds + 60)

    # ---- what each phase leads to

    def case(self, phase, kind):
        getattr(self, f"_in_{phase}")(kind)

    def _in_waiting(self, kind):
        with self.held("waiting"):
            self.assertIn("needs 4 nodes with 8 nvidia.com/gpu each", self.pending()["message"])
            self.assertIn("has 3", self.pending()["message"].replace("cluster has 3", "has 3"))
            node = sorted(self.seen.nodes)[-1]
            self.strike(kind, node)
            self.wait(lambda: "has 2" in self.pending().get("message", ""), "it reports what is free now")
            self.assertEqual(self.members(), {})
        self.assertNotIn(node, self.whole())

    def _in_creating(self, kind):
        with self.held("creating"):
            node = self.assigned_node(0)
            self.strike(kind, node)
        self.assertNotIn(node, self.whole())
        self.await_event("Aborted", node)
        self.assertGreater(self.gang()["placed"]["epoch"], 1)

    def _in_releasing(self, kind):
        with self.held("releasing"):
            node = self.assigned_node(3)
            self.strike(kind, node)
        self.assertNotIn(node, self.whole())
        self.await_event("Aborted", node if kind != "shrunk" else "Insufficient nvidia.com/gpu")

    def _in_released(self, kind):
        with self.held("released"):
            node = self.assigned_node(0)
            self.strike(kind, node)
            if kind != "shrunk":
                # No pod has to try it first.
                self.await_event("Aborted", node)
        self.assertNotIn(node, self.whole())
        self.await_event("Aborted", node if kind != "shrunk" else "Insufficient nvidia.com/gpu")

    def _in_placed(self, kind):
        with self.held("placed"):
            before = self.uids()
            node = self.assigned_node(0)
            fault = self.strike(kind, node)
            if kind in ("cordoned", "unready", "shrunk"):
                self.steady(before, LENGTH if WHOLE else 2)
        self._settle_placed(kind, fault, before)

    def _in_running(self, kind):
        with self.held("running"):
            before = self.uids()
            fault = self.strike(kind, self.assigned_node(0))
            if kind in ("cordoned", "unready", "shrunk"):
                self.steady(before, LENGTH if WHOLE or kind == "unready" else 2)
        self._settle_placed(kind, fault, before)

    def _settle_placed(self, kind, fault, before):
        if kind in ("cordoned", "unready", "shrunk"):
            fault.heal()
            self.whole()
            self.steady(before)
            self.assertEqual(self.reasons(), ["Placed"])
            return
        self.wait(lambda: self.gang().get("lastEpoch", 0) > 1, "it restarts", GONE_SECONDS)
        self.assertNotIn(fault.node, self.whole())
        self.assertTrue(set(self.uids().values()).isdisjoint(before.values()), "all members are new")
        self.await_event("MemberLost", f"{NAME}-worker-0", fault.node)

    def test_waiting_added(self):
        """The node that it lacks is added."""
        with self.held("waiting"):
            given().add_nodes(1, SHAPE, start=6)
            self.assertEqual(self.whole(), ["n0003", "n0004", "n0005", "n0006"])
            support.delete_job(self.namespace, NAME)
            self.wait(lambda: not self.job(), "it is gone")
            support.core().delete_node("n0006")


def _make_test(phase, kind):
    def test(self):
        self.case(phase, kind)
    return test


for _phase in ALL:
    for _kind in FAULTS:
        setattr(Nodes, f"test_{_phase}_{_kind}", _make_test(_phase, _kind))

if __name__ == "__main__":
    unittest.main()
