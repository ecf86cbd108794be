"""kube-scheduler, both extender replicas and the operator are killed at random while gangs start, run and
end.

Times and programs follow from a seed: TRAINYARD_FAULTS_SEED=7 e2e/run --faults restarts
"""
import random
import signal
import unittest

import support
from gangs import SEED, WHOLE, FaultCase, note
from lib.faults import ExtenderReplica, FaultProxy, Replica, Tended, take_port
from lib.invariants import Invariants, node_of, over, phase_of, uid_of
from support import EXTENDER, OPERATOR, given

CLUSTER = {"nodes": 12}
GANGS = 50 if WHOLE else 12
# Gangs that are there at the same time: more than fit, so that some wait for others.
AT_ONCE = 8
# Pods that are bound between two kills, at most.
PACE = 12 if WHOLE else 8


class Restarts(FaultCase):
    @classmethod
    def setUpClass(cls):
        cluster = given()
        cluster.stop(OPERATOR)
        cluster.stop(EXTENDER)
        ports = [take_port(cluster), take_port(cluster)]
        cls.proxy = FaultProxy(cluster, cls.CLIENTS, services={cluster.ports["extender"]: ports})
        cls.operator = Replica(cluster, cls.proxy, "operator-a", identity="operator-a")
        cls.replicas = {
            "operator-a": cls.operator, "kube-scheduler": Tended(cluster, "kube-scheduler"),
            "extender-0": ExtenderReplica(cluster, "extender-0", ports[0]),
            "extender-1": ExtenderReplica(cluster, "extender-1", ports[1])}
        cls.seen = Invariants(cluster.kubeconfig, patience=300)

    def test_killed_at_random(self):
        source = random.Random(SEED)
        # The pod of a gang of one goes by the garbage collector: see Invariants.gone().
        choices = [1, 2, 3, 4, 4, 6, 8] if WHOLE else [2, 3, 4, 4, 6, 8]
        sizes = [source.choice(choices) for _ in range(GANGS)]
        note(f"seed {SEED}: {sum(sizes)} pods in {GANGS} gangs")
        bound, kills, submitted = set(), [], 0
        target = source.randint(1, PACE)

        def all_ended():
            return submitted == GANGS and self.under_way() == 0

        def due():
            bound.update(uid_of(pod) for pod in self.seen.pods.values() if node_of(pod))
            return len(bound) >= target or (submitted < GANGS and self.under_way() < AT_ONCE) or all_ended()

        while not all_ended():
            self.seen.wait(due, f"the next of {GANGS - submitted} gangs to come, or the end of the last")
            if len(bound) >= target:
                kills.append(self.strike(source))
                target = len(bound) + source.randint(1, PACE)
            elif submitted < GANGS:
                self.submit(f"gang-{submitted}", sizes[submitted])
                submitted += 1
        note(f"killed: { {name: kills.count(name) for name in sorted(set(kills))} }")
        failed = [key for key, job in self.seen.jobs.items() if phase_of(job) != "Succeeded"]
        self.assertEqual(failed, [], self.seen.digest())
        self.assertGreater(len(kills), sum(sizes) // PACE // 2)
        for replica in self.replicas.values():
            replica.check()
        for _, name in list(self.seen.jobs):
            support.delete_job(self.namespace, name)
        self.seen.gone(self.namespace, auxiliaries=WHOLE)

    def under_way(self):
        return sum(not over(job) for job in self.seen.jobs.values())

    def submit(self, name, size):
        support.create_job(self.namespace, support.job(name, replicas=size, run_for="1s"))
        self.seen.wait(lambda: self.seen.job(self.namespace, name), f"{name} is seen")

    def strike(self, source):
        """Kills one of them; one that is about to start again counts as hit as well."""
        for replica in self.replicas.values():
            replica.check()
        victim = source.choice(sorted(self.replicas))
        self.replicas[victim].signal(signal.SIGKILL)
        return victim


if __name__ == "__main__":
    unittest.main()
