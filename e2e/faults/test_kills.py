"""kill -9 of the operator at every write of a gang's life: before the write is sent, and after it was carried
out but before the answer. The next operator completes it; no member is doubled or lost, no GPU leaked.

A single kill again: TRAINYARD_FAULTS_KILL=start:7:kill-after e2e/run --faults kills
"""
import os
import unittest

import support
from gangs import SEED, WHOLE, FaultCase, note

CLUSTER = {"nodes": 4}
LIVES = ("start", "one", "restart", "compete", "abort")
WAYS = ("kill-before", "kill-after")
TURNS = 6
ONLY = os.environ.get("TRAINYARD_FAULTS_KILL")


class Kills(FaultCase):
    def count(self, life):
        """The number of writes of the life without a kill."""
        self.proxy.reset(self.operator.client)
        self.live(life, "no fault")
        return self.proxy.state(self.operator.client)["counts"]["write"]

    def kill(self, life, k, way):
        """True if the life had a k-th write."""
        what = f"{way} at write {k} (TRAINYARD_FAULTS_KILL={life}:{k}:{way})"
        client = self.operator.client
        self.proxy.reset(client)
        hits = self.suffer(life, what, {"kind": "write", "nth": k, "fault": way})
        for hit in hits:
            note(f"{life:8} write {k:3} {way:12} {hit['verb']:6} {hit['path'].replace(self.namespace, 'NS')}")
        return bool(hits)

    def suffer(self, life, what, *rules):
        """Returns the hits; no operator ended for another reason."""
        client, deaths = self.operator.client, len(self.operator.deaths)
        self.proxy.rules(client, *rules)
        self.live(life, what)
        # Of several writes that are under way at the same time one is enough.
        kills = self.proxy.state(client)["kills"]
        died = support.await_value(lambda: self.operator.deaths[deaths:], lambda now: len(now) >= kills,
                                   "every kill is noticed")
        self.assertEqual(died, ["killed by SIGKILL"] * kills, what)
        return self.proxy.state(client)["hits"]

    def kill_everywhere(self, life):
        writes = self.count(life)
        note(f"{life}: {writes} writes without a fault")
        for way in WAYS:
            k = 1
            # What is written together may be counted otherwise next time: on until a life has no k-th write.
            while self.kill(life, k, way) or k < writes:
                k += 1

    def kill_again_and_again(self):
        """Kills successors as well, at a tenth of all writes before and a tenth after they are carried out."""
        for turn in range(TURNS):
            for life in LIVES:
                seed = SEED + turn
                self.proxy.reset(self.operator.client)
                rules = [{"kind": "write", "share": 0.1, "fault": way, "seed": f"{seed} {life} {way}"}
                         for way in WAYS]
                hits = self.suffer(life, f"TRAINYARD_FAULTS_SEED={seed}", *rules)
                note(f"{life:8} seed {seed}: {len(hits)} operators killed")

    def kill_once(self):
        life, k, way = ONLY.split(":")
        self.assertTrue(self.kill(life, int(k), way), "there was no such write")


def _everywhere(life):
    def test(self):
        self.kill_everywhere(life)
    return test


def _some(life, step, offset):
    def test(self):
        writes = self.count(life)
        for k in range(1 + offset, writes + 1, step):
            self.kill(life, k, WAYS[k // step % 2])
    return test


if WHOLE and not ONLY:
    for _life in LIVES:
        setattr(Kills, f"test_{_life}", _everywhere(_life))
    Kills.test_again_and_again = Kills.kill_again_and_again
elif ONLY:
    Kills.test_only = Kills.kill_once
else:
    Kills.test_start_some = _some("start", 4, 1)
    Kills.test_restart_some = _some("restart", 7, 3)

if __name__ == "__main__":
    unittest.main()
