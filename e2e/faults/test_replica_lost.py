"""One of two extender replicas is lost while pods are placed: no pod has more than one failed attempt because of it.

Both are behind one address, whose connections go to them alternately and skip one that does not listen, as behind a
Service. How often kube-scheduler tried each pod that it bound is in its own histogram.
"""
import itertools
import signal

import support
from gangs import note
from lib.faults import ExtenderReplica, FaultProxy, take_port
from support import EXTENDER, given, wait_phase

CLUSTER = {"nodes": 4}
FOREIGN_PODS, GANGS, MEMBERS = 8, 2, 2
PODS = FOREIGN_PODS + GANGS * MEMBERS
FAILED = "scheduler_schedule_attempts_total"


def total(name, prefix, words=""):
    """The sum of a program's series with this prefix that contain these words."""
    return int(sum(value for series, value in given().metrics(name).items() if series.startswith(prefix) and words in series))


def bound(tries="+Inf"):
    """The number of pods that kube-scheduler has bound since its start with at most so many tries."""
    return total("kube-scheduler", "scheduler_pod_scheduling_attempts_bucket", f'le="{tries}"')


def answered(name):
    return total(name, "trainyard_extender_requests_total")


class ReplicaLost(support.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = given()
        cluster.stop(EXTENDER)
        ports = [take_port(cluster), take_port(cluster)]
        cls.proxy = FaultProxy(cluster, [], services={cluster.ports["extender"]: ports})
        cls.addClassCleanup(cls.proxy.stop)
        cls.names = []
        for number, port in enumerate(ports):
            replica = ExtenderReplica(cluster, f"extender-{number}", port)
            # A lost replica stays lost.
            replica.stop(end=False)
            cls.addClassCleanup(cluster.stop, replica.name)
            cls.names.append(replica.name)

    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()

    def create_foreign_pod(self):
        support.core().create_namespaced_pod(self.namespace, support.pod(f"foreign-{next(self.numbers)}", gpus=1))

    def place(self, pods, jobs):
        """Some more foreign pods and gangs, all of which fit; returns when they are bound."""
        for _ in range(FOREIGN_PODS):
            self.create_foreign_pod()
        gangs = [f"gang-{next(self.numbers)}" for _ in range(GANGS)]
        for name in gangs:
            support.create_job(self.namespace, support.job(name, replicas=MEMBERS, gpus=1))
        for name in gangs:
            wait_phase(jobs, self.namespace, name, "Running")
        pods.wait(lambda all_: all(map(support.node_of, all_.values())), "all are bound")

    def lose(self, how, back, more=0):
        """how, back: what is done to a replica of that name. more: pods that are created meanwhile."""
        begun = bound()
        with support.watch_pods(self.namespace) as pods, support.watch_jobs(self.namespace) as jobs:
            before = {name: answered(name) for name in self.names}
            self.place(pods, jobs)
            asked = max(self.names, key=lambda name: answered(name) - before[name])
            other, = set(self.names) - {asked}
            served = answered(other)
            self.await_bound(begun + PODS)
            at_once, failed = bound("2"), total("kube-scheduler", FAILED, 'result="error"')
            self.addCleanup(back, asked)
            how(asked)
            self.place(pods, jobs)
        self.await_bound(begun + 2 * PODS + more)
        failed = total("kube-scheduler", FAILED, 'result="error"') - failed
        note(f"{self.id()}: {PODS + more} pods bound, {failed} attempts failed")
        self.assertEqual(PODS + more, bound("2") - at_once, "pods that were bound at the second attempt at most")
        self.assertGreater(answered(other), served)
        return failed

    @staticmethod
    def await_bound(count):
        """A pod is counted a moment after it is bound."""
        support.await_value(bound, lambda found: found == count, f"{count} are counted")

    def test_killed(self):
        self.lose(given().kill, given().start)

    def test_killed_while_it_is_asked(self):
        def how(name):
            given().kill(name, signal.SIGSTOP)
            came = total("kube-scheduler", "scheduler_queue_incoming_pods_total")
            self.create_foreign_pod()
            # It waits in no queue: its attempt is under way.
            support.await_value(lambda: (total("kube-scheduler", "scheduler_queue_incoming_pods_total") - came,
                                         total("kube-scheduler", "scheduler_pending_pods")),
                                lambda found: found == (1, 0), "a pod is being placed")
            given().kill(name)
        self.assertEqual(1, self.lose(how, given().start, more=1))

    def test_cut_off(self):
        """It accepts connections and does not answer, as on a lost node: kube-scheduler's time limit ends the one
        call."""
        failed = self.lose(lambda name: given().kill(name, signal.SIGSTOP), lambda name: given().kill(name, signal.SIGCONT))
        self.assertEqual(1, failed)
