"""A tenant whose small jobs use the nodes that a neighbour's large gang waits for. Each docstring names the harm that is
prevented.

    e2e/run abuse_backfill
"""
import itertools
import time

from support import wait_phase
from tenants import Tenants, install_chart, role

RUNS = "whole"
CLUSTER = {"nodes": 8}  # of 8 GPUs
# The neighbour waits for these, and mallory has the others.
WANTED, HELD = range(4), range(4, 8)
RUN = 15


def setUpModule():
    install_chart()


class SmallJobs(Tenants):
    """The neighbour's own jobs end after RUN seconds, as estimated, and its gang waits for all of WANTED."""

    def setUp(self):
        super().setUp()
        self.policy("preemption: {minRuntime: 5s}\n")

    def fill(self, gpus=8, seconds=RUN):
        for node in WANTED:
            self.submits(f"runner-{node}", role(gpus=gpus, nodes=[node], run_for=f"{seconds}s"), seconds=seconds)
        for node in WANTED:
            wait_phase(self.jobs, self.others, f"runner-{node}", "Running")
        return time.monotonic() + seconds

    def gang_waits(self):
        key = self.submits("gang", role(replicas=len(WANTED), gpus=8, nodes=WANTED), seconds=60)
        self.waits_at_all(key)
        time.sleep(1)
        return key

    def small_jobs(self, count=8, run_for=None, preemptible=False, **spec):
        """Jobs of half a node on the gang's nodes, created after it."""
        for number in range(count):
            self.attack(f"small-{number}", role(gpus=4, nodes=WANTED, run_for=run_for), preemptible=preemptible, **spec)

    def hold(self, nodes):
        """Holds these nodes for ever."""
        for node in nodes:
            self.attack(f"held-{node}", role(gpus=8, nodes=[node]))
        for node in nodes:
            wait_phase(self.jobs, self.namespace, f"held-{node}", "Running")

    def test_one_job_that_waits_for_a_node_of_the_gang_and_another_node(self):
        """The first free node could be reserved for this job, the gang could lose its own reservation in that cycle,
        and small jobs could use its nodes."""
        self.hold([4])
        free = self.fill()
        self.waits_at_all(self.attack("ever", role(replicas=2, gpus=8, nodes=[0, 4])))
        key = self.gang_waits()
        self.small_jobs()
        self.is_placed(key, since=free)

    def test_as_many_pending_jobs_as_there_are_reservations(self):
        """All eight reservations of a cycle could be theirs, and the gang have none."""
        self.hold(HELD)
        free = self.fill()
        sets = [each for size in (2, 3) for each in itertools.combinations(HELD, size)]
        for number, nodes in enumerate(sets[:9]):
            self.attack(f"ever-{number}", role(replicas=len(nodes), gpus=8, nodes=nodes))
        self.waits_at_all((self.namespace, "ever-8"))
        key = self.gang_waits()
        self.small_jobs()
        self.is_placed(key, since=free)

    def test_a_kind_of_job_with_short_run_times(self):
        """After five jobs of a second, jobs of that name which never end could backfill on the gang's reservation
        uncounted."""
        for number in range(5):
            self.holds(f"sweep-{number}", role(gpus=4, run_for="1s"), preemptible=False)
            wait_phase(self.jobs, self.namespace, f"sweep-{number}", "Succeeded")
        free = self.fill(gpus=4)
        key = self.gang_waits()
        for number in range(11, 17):
            self.attack(f"sweep-{number}", role(gpus=4, nodes=WANTED), preemptible=False)
        self.is_placed(key, since=free)

    def test_a_stream_of_jobs_with_an_estimate_of_a_second(self):
        """Jobs that run for twenty seconds could come first again and again: the gang would not be placed in two
        minutes."""
        free = self.fill()
        self.small_jobs(count=8, run_for="20s", seconds=1)
        key = self.gang_waits()
        self.again(0.5, lambda count: self.attack(f"more-{count}", role(gpus=4, nodes=WANTED, run_for="20s"), seconds=1,
                                                  preemptible=False))
        # The jobs that are rightly before it end once.
        self.is_placed(key, since=free + 20)

    def test_a_stream_of_preemptible_jobs_that_never_end(self):
        """The gang preempts the jobs that started on its reserved nodes."""
        free = self.fill(gpus=4)
        key = self.gang_waits()
        self.small_jobs(preemptible=True, seconds=1)
        self.again(0.5, lambda count: self.attack(f"more-{count}", role(gpus=4, nodes=WANTED), seconds=1))
        self.is_placed(key, since=free)

    def test_control_small_jobs_alone(self):
        free = self.fill()
        key = self.gang_waits()
        self.small_jobs()
        self.is_placed(key, since=free)

    def test_control_a_kind_without_run_times(self):
        free = self.fill(gpus=4)
        key = self.gang_waits()
        for number in range(11, 17):
            self.attack(f"sweep-{number}", role(gpus=4, nodes=WANTED), preemptible=False)
        self.is_placed(key, since=free)
