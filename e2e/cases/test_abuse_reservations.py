"""A tenant whose jobs are pending and whose reservations keep the nodes of other tenants idle. Each docstring names the harm
that is prevented.

    e2e/run abuse_reservations
"""
import time

from support import GPU, wait_phase
from tenants import Tenants, install_chart, role

RUNS = "whole"
CLUSTER = {"nodes": 4}  # of 8 GPUs
NODES = 4
HOURS = 36_000


def setUpModule():
    install_chart()


class WholeClusterGangs(Tenants):
    """A gang of the size of the cluster, which cannot be placed as long as anything runs."""

    def submit_large(self, **spec):
        self.waits_at_all(self.attack("large", role(replicas=NODES, gpus=8), **spec))
        time.sleep(3)  # its estimate is over

    def neighbour_is_placed(self):
        self.is_placed(self.submits("gang", role(replicas=NODES - 1, gpus=8)))

    def test_one_that_holds_nothing(self):
        """It is placed when the neighbour's own job ends, in ten hours: 31 of 32 GPUs could be idle until then."""
        self.runs_by("long", role(gpus=1), seconds=HOURS)
        self.submit_large(seconds=1)
        self.neighbour_is_placed()

    def test_one_that_cannot_be_preempted(self):
        self.runs_by("long", role(gpus=1), seconds=HOURS)
        self.submit_large(seconds=1, preemptible=False)
        self.neighbour_is_placed()

    def test_one_that_holds_a_gpu_itself(self):
        """It waits for a job of the same tenant, with an estimate of one second, that never ends."""
        self.holds("small", role(gpus=1), seconds=1)
        self.submit_large(seconds=1)
        self.neighbour_is_placed()

    def test_one_that_holds_a_gpu_by_a_pod_of_no_job(self):
        self.core.create_namespaced_pod(self.namespace, self.pod_with_gpu())
        self.submit_large(seconds=1)
        self.neighbour_is_placed()

    @staticmethod
    def pod_with_gpu():
        return {"metadata": {"name": "bare"}, "spec": {"containers": [
            {"name": "c", "image": "c", "resources": {"limits": {GPU: 1}}}]}}

    def test_control_one_without_an_estimate(self):
        self.runs_by("long", role(gpus=1), seconds=HOURS)
        self.submit_large()
        self.neighbour_is_placed()


class Limits(Tenants):
    """A job that waits at a limit which another job of the same tenant uses up."""

    def use_up(self, queue):
        self.holds("small", role(gpus=1), queue=queue)
        self.waits_at_all(self.attack("large", role(replicas=2, gpus=8), queue=queue))
        time.sleep(2)

    def test_the_limit_of_a_parent(self):
        """The rest below the limit could be reserved for the large job: the other queue's job would wait for ever."""
        self.create_queue("p", limit={GPU: 16})
        self.create_queue("a", parent="p")
        self.create_queue("b", parent="p")
        self.use_up("a")
        self.is_placed(self.submits("gang", role(gpus=8), queue="b"))

    def test_the_limit_of_a_queue_that_two_namespaces_share(self):
        self.create_queue("p", limit={GPU: 16})
        self.use_up("p")
        self.is_placed(self.submits("gang", role(gpus=8), queue="p"))

    def test_control_a_limit_that_ends(self):
        self.create_queue("p", limit={GPU: 16})
        self.holds("small", role(gpus=1, run_for="5s"), queue="p", seconds=5)
        self.is_placed(self.submits("gang", role(gpus=8), queue="p"))
        wait_phase(self.jobs, self.namespace, "small", "Succeeded")
