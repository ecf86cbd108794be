"""One of two extender replicas is lost while pods are placed: none pays for it with more than one failed attempt.

Both are behind one address, whose connections go to them in turn and past who does not listen, as behind a Service. How
often kube-scheduler tried each pod that it bound is in its own histogram.
"""
import itertools
import signal

import support
from gangs import say
from lib.faults import ExtenderReplica, FaultProxy, take_port
from support import EXTENDER, given, wait_phase

CLUSTER = {"nodes": 4}
STRANGERS, GANGS, MEMBERS = 8, 2, 2
PODS = STRANGERS + GANGS * MEMBERS
FAILED = "scheduler_schedule_attempts_total"


def total(name, prefix, words=""):
    """The sum of a program's series that begin so and hold these words."""
    return int(sum(value for series, value in given().metrics(name).items() if series.startswith(prefix) and words in series))


def bound(tries="+Inf"):
    """How many pods kube-scheduler has bound since it started that it had to try so many times at most."""
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
            # Who is lost stays lost.
            replica.stop(end=False)
            cls.addClassCleanup(cluster.stop, replica.name)
            cls.names.append(replica.name)

    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()

    def stranger(self):
        support.core().create_namespaced_pod(self.namespace, support.pod(f"stranger-{next(self.numbers)}", gpus=1))

    def place(self, pods, jobs):
        """Some more pods of everybody, all of which fit; returns when they are bound."""
        for _ in range(STRANGERS):
            self.stranger()
        gangs = [f"gang-{next(self.numbers)}" for _ in range(GANGS)]
        for name in gangs:
            support.create_job(self.namespace, support.job(name, replicas=MEMBERS, gpus=1))
        for name in gangs:
            wait_phase(jobs, self.namespace, name, "Running")
        pods.wait(lambda all_: all(map(support.node_of, all_.values())), "all are bound")

    def lose(self, how, back, more=0):
        """how, back: what happens to a replica of that name. more: pods that come meanwhile."""
        begun = bound()
        with support.watch_pods(self.namespace) as pods, support.watch_jobs(self.namespace) as jobs:
            before = {name: answered(name) for name in self.names}
            self.place(pods, jobs)
            asked = max(self.names, key=lambda name: answered(name) - before[name])
            other, = set(self.names) - {asked}
            told = answered(other)
            self.await_bound(begun + PODS)
            at_once, failed = bound("2"), total("kube-scheduler", FAILED, 'result="error"')
            self.addCleanup(back, asked)
            how(asked)
            self.place(pods, jobs)
        self.await_bound(begun + 2 * PODS + more)
        failed = total("kube-scheduler", FAILED, 'result="error"') - failed
        say(f"{self.id()}: {PODS + more} pods bound, {failed} attempts failed")
        self.assertEqual(PODS + more, bound("2") - at_once, "pods that were bound at the second attempt at most")
        self.assertGreater(answered(other), told)
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
            self.stranger()
            # It waits in no queue: its attempt is under way.
            support.await_value(lambda: (total("kube-scheduler", "scheduler_queue_incoming_pods_total") - came,
                                         total("kube-scheduler", "scheduler_pending_pods")),
                                lambda found: found == (1, 0), "a pod is being placed")
            given().kill(name)
        self.assertEqual(1, self.lose(how, given().start, more=1))

    def test_cut_off(self):
        """It takes connections and says nothing more, as where its node is gone: kube-scheduler's time limit ends the one call."""
        failed = self.lose(lambda name: given().kill(name, signal.SIGSTOP), lambda name: given().kill(name, signal.SIGCONT))
        self.assertEqual(1, failed)
