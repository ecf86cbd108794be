"""How gangs end and restart: deleted in every phase, members lost one by one or with their node, pods that do not terminate.
No pod outlives its job, none is doubled, and none is deleted by force while its node may still run it.
"""
import contextlib
import time
import unittest
from datetime import datetime, timezone

import support
from lib import kwok
from lib.invariants import label, node_of, uid_of
from phases import ALL, NAME, PhaseCase
from support import given, kubectl

RUNS = "whole"
CLUSTER = {"nodes": 6}
KEEP = "e2e.invalid/keep"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
# A node that has been unreachable for so long is given up.
UNREACHABLE_SECONDS = 60


class EndingCase(PhaseCase):
    def member(self, index):
        return self.members().get(f"{NAME}-worker-{index}")

    def delete_job(self):
        support.delete_job(self.namespace, NAME)

    def delete_member(self, index, **options):
        support.core().delete_namespaced_pod(f"{NAME}-worker-{index}", self.namespace, **options)

    def keep(self, index, kept=True):
        """A foreign finalizer on a member."""
        support.core().patch_namespaced_pod(
            f"{NAME}-worker-{index}", self.namespace, {"metadata": {"finalizers": [KEEP] if kept else None}})

    def restarted(self, epoch=1, timeout=None):
        """Waits until the whole gang runs after a loss; its nodes."""
        self.wait(lambda: self.gang().get("placed", {}).get("epoch", 0) > epoch
                  or self.replaced() and not self.gang().get("proposal"), "it has restarted", timeout)
        return self.whole()

    def replaced(self):
        """Epochs of single members."""
        return [each["epoch"] for each in self.gang().get("placed", {}).get("assignments", []) if each.get("epoch")]

    @contextlib.contextmanager
    def unreachable(self, node):
        """Its kubelet is unreachable, and its pods reach no other."""
        given().crash_node(node)
        self.report_unready(node)
        try:
            yield
        finally:
            given().revive_node(node)
            self.wait(lambda: kwok.is_ready(self.seen.nodes[node]), f"{node} is back")

    def report_unready(self, node):
        # A condition without a time keeps that of its last change, from which the operator counts the grace period.
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

        def patched():
            support.core().patch_node_status(node, {"status": {"conditions": [
                {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "by the test",
                 "lastTransitionTime": now}]}})
            return self.seen.nodes[node]
        support.await_value(patched, lambda item: not kwok.is_healthy(item), f"{node} is not ready")


class Deleted(EndingCase):
    """In every phase: the job is deleted, and nothing of it is left."""

    def deleted(self, phase):
        with self.held(phase):
            self.delete_job()
            if phase in ("running", "waiting"):
                self.seen.gone(self.namespace) if phase == "running" else self.wait(lambda: not self.job(), "it is deleted")
        self.seen.gone(self.namespace)
        self.capacity_is_free()

    def capacity_is_free(self):
        """Its nodes are free at once: another gang uses them all."""
        self.create("next", replicas=6)
        self.whole("next")

    def test_one_that_waits_behind_it_follows(self):
        with self.held("released"):
            self.create("next", replicas=6)
            self.reach("Queued", "next")
            self.delete_job()
        self.whole("next")


class Members(EndingCase):
    """A member is lost: the gang restarts, or only the member does."""

    def test_restart(self):
        self.create()
        self.whole()
        before = self.uids()
        self.delete_member(1)
        self.restarted()
        self.assertTrue(set(before.values()).isdisjoint(self.uids().values()))
        self.assertEqual({label(pod, "epoch") for pod in self.members().values()}, {"2"})
        self.await_event("MemberLost", f"{NAME}-worker-1")
        self.await_event("Placed")

    def test_restart_waits_where_nothing_is_free(self):
        """The node of the lost member is closed, and no other is free: the gang is pending with nothing, and reports
        why."""
        self.create(replicas=6)
        self.whole()
        kubectl("cordon", "n0001")
        self.addCleanup(kubectl, "uncordon", "n0001")
        victim = next(name for name, pod in self.members().items() if node_of(pod) == "n0001")
        self.delete_member(int(victim.rpartition("-")[2]))
        self.wait(lambda: self.pending().get("reason") and not self.members(), "it waits and has no pod")
        self.assertIn("needs 6 nodes with 8 nvidia.com/gpu each", self.pending()["message"])
        kubectl("uncordon", "n0001")
        self.whole()

    def replace(self, index):
        others = {name: uid for name, uid in self.uids().items() if name != f"{NAME}-worker-{index}"}
        old = uid_of(self.member(index))
        epoch = self.gang()["lastEpoch"]
        self.delete_member(index)
        self.wait(lambda: self.gang()["lastEpoch"] > epoch and not self.gang().get("proposal"), "it is replaced")
        self.whole()
        now = self.uids()
        self.assertNotEqual(now.pop(f"{NAME}-worker-{index}"), old)
        self.assertEqual(now, others, "no other member was touched")
        self.assertEqual(label(self.member(index), "epoch"), str(epoch + 1))

    def test_replace(self):
        self.create(failure={"restartScope": "Pod"})
        self.whole()
        for index in (1, 0, 1):
            self.replace(index)
        self.await_event("MemberLost", f"{NAME}-worker-1")
        support.finish(self.namespace, NAME)
        self.reach("Succeeded")

    def test_replace_elsewhere(self):
        """The node of the lost member can no longer be used."""
        self.create(failure={"restartScope": "Pod"})
        self.whole()
        node = node_of(self.member(2))
        kubectl("cordon", node)
        self.addCleanup(kubectl, "uncordon", node)
        self.replace(2)
        self.assertNotEqual(node_of(self.member(2)), node)

    def test_replace_refused(self):
        """A quota forbids the replacement: it is retried after a back-off; the others run on."""
        self.create(failure={"restartScope": "Pod"})
        self.whole()
        others = {name: uid for name, uid in self.uids().items() if name != f"{NAME}-worker-2"}
        support.core().create_namespaced_resource_quota(
            self.namespace, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "3"}}})
        with support.Recorder(support.core().list_namespaced_resource_quota, self.namespace) as quotas:
            quotas.wait(lambda all_: all_[(self.namespace, "few")].get("status", {}).get("hard"), "it counts")
        self.delete_member(2)
        self.await_event("Aborted", "exceeded quota")
        # 1 s, 2 s, 4 s of back-off: at least 7 s for three more attempts.
        first, begun = self.gang()["lastEpoch"], time.monotonic()
        self.wait(lambda: self.gang()["lastEpoch"] >= first + 3, "three more attempts")
        self.assertGreater(time.monotonic() - begun, 5, self.story())
        self.assertEqual({name: uid for name, uid in self.uids().items() if name in others}, others)
        support.core().delete_namespaced_resource_quota("few", self.namespace)
        self.wait(lambda: self.member(2) and node_of(self.member(2)), "it is replaced")
        self.whole()
        self.assertEqual({name: uid for name, uid in self.uids().items() if name in others}, others)

    def test_lost_again_while_it_restarts(self):
        self.create()
        self.whole()
        with self.door.hold("CREATE", self.namespace, f"{NAME}-worker-3") as hold:
            self.delete_member(1)
            hold.wait()
            self.wait(lambda: self.member(0), "a new member exists")
            self.delete_member(0)
        self.restarted()

    def test_refused_by_its_kubelet(self):
        """As when the devices that the scheduler counted are not there."""
        with self.held("placed"):
            node = node_of(self.member(1))
            support.core().patch_namespaced_pod_status(f"{NAME}-worker-1", self.namespace, {"status": {
                "phase": "Failed", "reason": "OutOfnvidia.com/gpu", "message": "by the test"}})
            self.await_event("MemberLost", "OutOfnvidia.com/gpu", node)
        self.restarted()

    def test_deleted_before_it_is_released(self):
        with self.held("creating"):
            before = uid_of(self.member(1))
            self.delete_member(1)
            self.wait(lambda: not self.member(1), "it is gone")
        self.whole()
        self.assertNotEqual(uid_of(self.member(1)), before)
        self.assertEqual(self.gang()["placed"]["epoch"], 1, "created again in the same attempt")

    def test_deleted_after_its_release(self):
        with self.held("released"):
            self.delete_member(1)
            self.await_event("Aborted", "worker-1")
        self.whole()
        self.assertGreater(self.gang()["placed"]["epoch"], 1)


class Stuck(EndingCase):
    """Members that do not terminate."""

    def test_a_foreign_finalizer(self):
        """The job waits for it, for ever if necessary; once it is removed, the job is deleted as well."""
        self.create()
        self.whole()
        self.keep(1)
        self.delete_job()
        self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
        self.assertTrue(self.job(), "the job stays until its pods are gone")
        self.assertIn("deletionTimestamp", self.member(1)["metadata"])
        self.keep(1, False)
        self.seen.gone(self.namespace)

    def test_restart_waits_for_a_terminating_member(self):
        self.create()
        self.whole()
        self.keep(1)
        self.delete_member(1)
        self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
        self.assertEqual(self.gang()["proposal"]["phase"], "Claiming")
        self.assertIn("Restarting", kubectl("get", "tj", NAME, "-n", self.namespace))
        self.keep(1, False)
        self.restarted()

    def test_gated_and_held(self):
        """It was never bound: no node runs it, and it is not deleted by force."""
        with self.held("creating"):
            self.keep(1)
            self.delete_job()
        self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
        self.keep(1, False)
        self.seen.gone(self.namespace)

    def test_on_a_node_out_of_service(self):
        """The machine is marked as off: its member is deleted by force at once, the gang starts elsewhere."""
        self.create()
        self.whole()
        node = node_of(self.member(1))
        with self.unreachable(node):
            self.delete_member(1)
            self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
            taint = f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute"
            kubectl("taint", "node", node, taint)
            self.addCleanup(self.untaint, node)
            self.assertNotIn(node, self.restarted())
            kubectl("taint", "node", node, taint + "-")

    @staticmethod
    def untaint(node):
        support.core().patch_node(node, {"spec": {"taints": None}})

    def test_on_a_deleted_node(self):
        self.create()
        self.whole()
        node = node_of(self.member(1))
        given().crash_node(node)
        self.addCleanup(self.recreate, node)
        self.delete_member(1)
        self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
        support.core().delete_node(node)
        self.assertNotIn(node, self.restarted())

    @staticmethod
    def recreate(node):
        kwok.create_nodes(given().api, [int(node[1:])], kwok.Shape())
        kwok.wait_ready(given().api, [node], 60)

    def test_on_an_unreachable_node(self):
        """Not before the node was unreachable for its time: a second process of the same rank would spoil the job."""
        self.create()
        self.whole()
        node = node_of(self.member(1))
        with self.unreachable(node):
            begun = time.monotonic()
            self.delete_job()
            self.wait(lambda: list(self.members()) == [f"{NAME}-worker-1"], "the others are deleted")
            self.wait(lambda: not self.members(), "it is given up", 2 * UNREACHABLE_SECONDS)
            # The condition's time is in whole seconds.
            self.assertGreater(time.monotonic() - begun, UNREACHABLE_SECONDS - 2)
            self.seen.gone(self.namespace)


def _make_test(phase):
    def test(self):
        self.deleted(phase)
    return test


for _phase in ALL:
    setattr(Deleted, f"test_{_phase}", _make_test(_phase))

if __name__ == "__main__":
    unittest.main()
