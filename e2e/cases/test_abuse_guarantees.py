"""A tenant on borrowed GPUs who does not return them to their owner. Each docstring names the harm that is prevented.

    e2e/run abuse_guarantees
"""
import time

import support
from lib import kwok
from support import GPU, GROUP, JOBS, VERSION, given, kubectl, wait_phase
from tenants import Tenants, install_chart, never_bound, role

RUNS = "whole"
CLUSTER = {"nodes": 4}  # of 8 GPUs
MIN_RUNTIME = 6
POLICY = f"preemption: {{minRuntime: {MIN_RUNTIME}s}}\n"
HELPER = {"mode": "Helper", "gracePeriodSeconds": 3600}


def setUpModule():
    install_chart()


class Loans(Tenants):
    def setUp(self):
        super().setUp()
        self.policy(POLICY)

    def lend(self, guaranteed=16):
        self.create_queue("owner", guaranteed={GPU: guaranteed})
        self.create_queue("borrower")

    def borrow(self, *more, **spec):
        """Takes all GPUs; returns when the loan can be reclaimed. A second role costs next to nothing."""
        self.lend()
        self.holds("lent", role(replicas=4, gpus=8), *more, queue="borrower", **spec)
        return time.monotonic() + MIN_RUNTIME

    def owner_is_served(self, since, replicas=2, **spec):
        self.is_placed(self.submits("own", role(replicas=replicas, gpus=8, **spec), queue="owner"), max(since, time.monotonic()))

    def test_control_a_loan(self):
        self.owner_is_served(self.borrow(role("cheap", cpu="100m")))

    def test_a_cheap_member_that_is_deleted_again_and_again(self):
        """The gang could count as newly placed each time, and never be old enough to be preempted."""
        since = self.borrow(role("cheap", cpu="100m"), failure={"restartScope": "Pod", "maxRestarts": 1000})
        self.again(MIN_RUNTIME / 3, lambda _: self.delete_pod("lent-cheap-0"))
        self.owner_is_served(since)

    def test_a_cheap_member_that_fails_again_and_again(self):
        """The gang could count as newly placed each time, without a deletion."""
        since = self.borrow(role("cheap", cpu="100m", run_for="2s"), success={"roles": ["worker"]},
                            failure={"restartScope": "Pod", "maxRestarts": 1000})
        self.owner_is_served(since)

    def elastic(self, replicas):
        return {"elastic": {"role": "cheap", "replicas": replicas, "minReplicas": 1, "maxReplicas": 2}}

    def test_a_member_that_does_not_leave(self):
        """A shrink of up to ten minutes could block every other decision about the gang."""
        since = self.borrow(role("cheap", replicas=2, cpu="100m"), checkpoint=HELPER, **self.elastic(2))
        self.scale("lent", 1)
        self.owner_is_served(since)

    def test_a_size_that_changes_all_the_time(self):
        since = self.borrow(role("cheap", replicas=2, cpu="100m"), **self.elastic(2))
        self.again(4, lambda count: self.scale("lent", 1 + count % 2))
        self.owner_is_served(since)

    def test_members_that_are_never_bound(self):
        """The GPUs that an attempt has reserved could not be reclaimed until its deadline, two minutes later."""
        self.lend()
        self.claim()
        self.attack("lent", role(replicas=4, gpus=8, **never_bound()), queue="borrower")
        self.is_being_started("lent")
        self.owner_is_served(time.monotonic() + MIN_RUNTIME)

    def test_a_start_that_is_filled_up(self):
        """An attempt whose record could not be written any more could not be given up: the members that are bound run
        beyond its deadline."""
        self.lend()
        self.claim()
        large = role(replicas=4, gpus=8)
        large["template"]["spec"]["containers"][0]["args"] = ["x" * 900_000]
        self.attack("lent", large, role("helper", **never_bound()), queue="borrower")
        self.is_being_started("lent")
        self.fill(f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{JOBS}/lent")
        self.owner_is_served(time.monotonic() + MIN_RUNTIME)

    def test_control_bare_pods(self):
        self.owner_waits_for_bare_pods({})

    def test_bare_pods_with_an_absurd_amount(self):
        """A pod that could not be read would seem to leave its GPUs free: a third tenant's gang would be preempted for
        an owner who cannot start."""
        self.owner_waits_for_bare_pods({"example.com/x": "10P"})

    def owner_waits_for_bare_pods(self, more):
        self.lend(guaranteed=32)
        amounts = {GPU: "8", **more}
        for index in (0, 1):
            self.core.create_namespaced_pod(self.namespace, {"metadata": {"name": f"bare-{index}"}, "spec": {
                "nodeName": kwok.node_name(index),
                "containers": [{"name": "c", "image": "c", "resources": {"limits": amounts, "requests": amounts}}]}})
        self.runs_by("third", role(replicas=2, gpus=8, nodes=[2, 3]), queue="borrower")
        time.sleep(MIN_RUNTIME)
        own = self.submits("own", role(replicas=4, gpus=8), queue="owner")
        pending = self.waits(own, "WaitingForCapacity")
        self.assertIn("2 pods of no TrainingJob", pending["message"])
        time.sleep(3)  # longer than a claim takes to evict
        self.assertNotIn("preemptions", support.get_job(self.others, "third")["status"])

    def test_members_without_their_owner(self):
        """Members whose owner reference is removed in time could run on, and no queue be charged for them."""
        since = self.borrow()
        for number in range(4):
            self.is_refused("ownerReferences", self.core.patch_namespaced_pod, f"lent-worker-{number}", self.namespace,
                            {"metadata": {"ownerReferences": None}})
        self.owner_is_served(since)

    def test_members_with_a_second_owner(self):
        """The garbage collector keeps a pod with another owner when its job is deleted, and no queue could be charged
        for it."""
        self.lend()
        for number in range(4):
            self.holds(f"lent-{number}", role(gpus=8), queue="borrower")
        since = time.monotonic() + MIN_RUNTIME
        mine = self.core.create_namespaced_config_map(self.namespace, {"metadata": {"name": "mine"}})
        second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": mine.metadata.uid}
        for number in range(4):
            self.is_refused("ownerReferences", self.core.patch_namespaced_pod, f"lent-{number}-worker-0", self.namespace,
                            [{"op": "add", "path": "/metadata/ownerReferences/-", "value": second}])
        # Where no policy refuses it the operator deletes what was kept.
        patch = [{"op": "add", "path": "/metadata/ownerReferences/-", "value": second}]
        support.core().patch_namespaced_pod("lent-0-worker-0", self.namespace, patch)
        support.delete_job(self.namespace, "lent-0")
        with support.watch_pods(self.namespace) as pods:
            pods.wait(lambda all_: (self.namespace, "lent-0-worker-0") not in all_, "what the garbage collector kept is gone")
        self.owner_is_served(since)

    def test_members_that_are_orphaned(self):
        """With `kubectl delete --cascade=orphan`, and with the finalizer by which it does that."""
        since = self.borrow()
        self.is_refused("Orphan", self.delete, "Orphan")
        self.is_refused("Orphan", lambda: self.custom.patch_namespaced_custom_object(
            support.GROUP, support.VERSION, self.namespace, support.JOBS, "lent", {"metadata": {
                "finalizers": ["trainyard.dev/release", "orphan"]}}))
        self.owner_is_served(since)
        self.delete("Foreground")

    def delete(self, policy):
        self.custom.delete_namespaced_custom_object(support.GROUP, support.VERSION, self.namespace, support.JOBS, "lent",
                                                    propagation_policy=policy)


class HeldResources(Tenants):
    """GPUs are free, but other resources of their nodes are not."""

    def setUp(self):
        super().setUp()
        self.policy(POLICY)

    def test_cores(self):
        """A job without GPUs could never exceed its guarantee where GPUs are guaranteed."""
        self.create_queue("owner", guaranteed={GPU: 16})
        self.create_queue("other")
        self.holds("squat", role(replicas=4, cpu="92"), queue="other")
        since = time.monotonic() + MIN_RUNTIME
        self.is_placed(self.submits("own", role(replicas=2, gpus=8, cpu="16"), queue="owner"), since)

    def test_cores_of_a_job_that_has_ended(self):
        """Its pods could run on, and the pods of an ended job be exempt from eviction."""
        self.create_queue("owner", guaranteed={"cpu": 200})
        self.create_queue("other")
        self.attack("ended", role(replicas=4, cpu="90"), role("trigger", cpu="1", run_for="1s"), queue="other",
                    run={"cleanPodPolicy": "None"}, success={"operator": "Any", "roles": ["trigger"]})
        wait_phase(self.jobs, self.namespace, "ended", "Succeeded")
        since = time.monotonic() + MIN_RUNTIME
        self.is_placed(self.submits("own", role(replicas=4, cpu="50"), queue="owner"), since)

    def test_slots_of_pods(self):
        """As with the cores; no queue can guarantee pod slots."""
        slots = 12
        taint = {"key": "e2e.invalid/slots", "effect": "NoSchedule"}
        here = {"nodeSelector": {"e2e.invalid/slots": "true"}, "tolerations": [{"key": taint["key"], "operator": "Exists"}]}
        given().add_nodes(2, kwok.Shape(pods=slots, labels={"e2e.invalid/slots": "true"}, taints=[taint]))
        def remove():
            self.empty(self.others)
            self.empty(self.namespace)
            kubectl("delete", "nodes", "-l", "e2e.invalid/slots")
        self.addCleanup(remove)
        self.create_queue("owner", guaranteed={GPU: 16})
        self.create_queue("other")
        self.holds("squat", role(replicas=2 * slots, cpu="1m", **here), queue="other")
        since = time.monotonic() + MIN_RUNTIME
        self.is_placed(self.submits("own", role(replicas=2, gpus=8, **here), queue="owner"), since)

    def test_control_cores_for_both(self):
        """A job that blocks no other job is not preempted."""
        self.create_queue("owner", guaranteed={GPU: 16})
        self.create_queue("other")
        self.holds("little", role(replicas=4, cpu="40"), queue="other")
        self.is_placed(self.submits("own", role(replicas=2, gpus=8, cpu="16"), queue="owner"))
        self.assertEqual("Running", support.phase(support.get_job(self.namespace, "little")))


class FrequentPreemption(Tenants):
    """A job that was preempted often is spared; a tenant chooses how often it preempts its own job."""

    def setUp(self):
        super().setUp()
        self.policy("preemption: {minRuntime: 2s}\n")
        kubectl("create", "priorityclass", "e2e-urgent", "--value=100")
        self.addCleanup(kubectl, "delete", "priorityclass", "e2e-urgent")

    def neighbour_is_spared(self, times):
        self.runs_by("old", role(gpus=8, nodes=[0, 1]))
        node = 1 - int(self.node_of(self.others, "old")[-1])
        self.holds("small", role(gpus=8, nodes=[node]))
        for number in range(times):
            time.sleep(3)
            urgent = self.attack(f"urgent-{number}", role(gpus=8, nodes=[node], run_for="1s"), priorityClassName="e2e-urgent")
            wait_phase(self.jobs, *urgent, "Succeeded")
            wait_phase(self.jobs, self.namespace, "small", "Running")
        time.sleep(3)
        self.is_placed(self.submits("need", role(gpus=8, nodes=[0, 1]), priorityClassName="e2e-urgent"))
        self.assertEqual("Running", support.phase(support.get_job(self.others, "old")), "it has lost more than the other")

    def node_of(self, namespace, name):
        pod, = support.members_now(namespace, name).values()
        return support.node_of(pod)

    def test_a_job_that_its_owner_preempts_again_and_again(self):
        """The neighbour's job, which loses more, could be preempted in its stead."""
        self.neighbour_is_spared(4)

    def test_control_a_job_that_was_never_preempted(self):
        self.neighbour_is_spared(0)
