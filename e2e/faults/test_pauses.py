"""A leader is paused (SIGSTOP) at a write, for longer than its Lease, while a second operator runs; then its
write reaches the server after all, and it continues: no half-bound gang, no double reservation that survives
the barrier, and the former leader ends.

The write is held back by the proxy until the other one leads, until that one has placed the gang, or until
the gang's life is over and nothing is left of it; "again": and then it meets the next job of the same name.

A single pause again: TRAINYARD_FAULTS_PAUSE=start:7:placed e2e/run --faults pauses
"""
import os
import signal
import unittest

import support
from gangs import PATIENCE, WHOLE, Background, FaultCase, note

CLUSTER = {"nodes": 4}
# When the held write goes on.
MOMENTS = ("other-leads", "placed", "over", "again")
ONLY = os.environ.get("TRAINYARD_FAULTS_PAUSE")


class Pauses(FaultCase):
    CLIENTS = ("operator-a", "operator-b")

    def setUp(self):
        super().setUp()
        self.leases = support.leases()
        self.addCleanup(self.leases.stop)

    def leader(self, timeout=PATIENCE, other_than=("",)):
        self.leases.wait(lambda all_: support.holder(all_) not in other_than, f"none of {other_than} leads",
                         timeout)
        return support.holder(self.leases.objects)

    def count(self, life):
        leader = self.leader()
        self.proxy.reset(leader)
        self.live(life, "no fault")
        return self.proxy.state(leader)["counts"]["write"]

    def pause(self, life, k, moment):
        what = f"stopped at write {k}, held until {moment} (TRAINYARD_FAULTS_PAUSE={life}:{k}:{moment})"
        leader = self.leader()
        for client in self.CLIENTS:
            self.proxy.reset(client)
        self.proxy.rules(leader, {"kind": "write", "nth": k, "fault": "stop"})
        deaths = len(self.replicas[leader].deaths)
        lived = Background(self.live, life, what)
        while not (hits := self.proxy.wait_hits(leader, 1, timeout=1)["hits"]):
            if not lived.is_alive():
                lived.result()
                return False
        try:
            self.leader(other_than=("", leader))
            if moment == "placed":
                self.seen.settled()
            elif moment in ("over", "again"):
                lived.result()
        finally:
            self.proxy.order(leader, "forward")
            self.replicas[leader].signal(signal.SIGCONT)
        lived.result()
        if moment == "again":
            self.live(life, what)
        support.await_value(lambda: self.replicas[leader].deaths[deaths:], bool, f"{leader} ends", PATIENCE)
        self.assertEqual(self.replicas[leader].deaths[deaths:], ["exit code 1"], what)
        self.seen.settled()
        self.seen.gone(self.namespace, auxiliaries=WHOLE)
        path = hits[0]["path"].replace(self.namespace, "NS")
        note(f"{life:8} write {k:3} {moment:12} {hits[0]['verb']:6} {path}")
        return True

    def pause_everywhere(self, life):
        writes = self.count(life)
        note(f"{life}: {writes} writes without a fault")
        for k in range(1, writes + 1):
            for moment in MOMENTS:
                # One moment a write, in turn, but all of them where a gang starts.
                if life in ("start", "one") or MOMENTS[k % len(MOMENTS)] == moment:
                    self.pause(life, k, moment)

    def pause_once(self):
        life, k, moment = ONLY.split(":")
        self.assertTrue(self.pause(life, int(k), moment), "there was no such write")


def _everywhere(life):
    def test(self):
        self.pause_everywhere(life)
    return test


def _once(life, k, moment):
    def test(self):
        self.assertTrue(self.pause(life, k, moment), "there was no such write")
    return test


if WHOLE and not ONLY:
    for _life in ("start", "one", "restart", "compete", "abort"):
        setattr(Pauses, f"test_{_life}", _everywhere(_life))
elif ONLY:
    Pauses.test_only = Pauses.pause_once
else:
    # The first pod's release; a pod that is created when its gang is over and gone.
    Pauses.test_release = _once("start", 10, "other-leads")
    Pauses.test_creation = _once("start", 6, "over")

if __name__ == "__main__":
    unittest.main()
