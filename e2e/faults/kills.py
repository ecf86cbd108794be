"""The operator is killed at the writes of lives (gangs.py), before a write is sent or after it was carried out."""
import os

import support
from gangs import SEED, WHOLE, FaultCase, note

WAYS = ("kill-before", "kill-after")
TURNS = 6
# LIFE:WRITE:WAY of a single kill.
ONLY = os.environ.get("TRAINYARD_FAULTS_KILL")


class KillCase(FaultCase):
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

    def kill_some(self, life, step, offset):
        writes = self.count(life)
        for k in range(1 + offset, writes + 1, step):
            self.kill(life, k, WAYS[k // step % 2])

    def kill_again_and_again(self, lives):
        """Kills successors as well, at a tenth of all writes before and a tenth after they are carried out."""
        for turn in range(TURNS):
            for life in lives:
                seed = SEED + turn
                self.proxy.reset(self.operator.client)
                rules = [{"kind": "write", "share": 0.1, "fault": way, "seed": f"{seed} {life} {way}"}
                         for way in WAYS]
                hits = self.suffer(life, f"TRAINYARD_FAULTS_SEED={seed}", *rules)
                note(f"{life:8} seed {seed}: {len(hits)} operators killed")

    def kill_once(self):
        life, k, way = ONLY.split(":")
        self.assertTrue(self.kill(life, int(k), way), "there was no such write")


def add_tests(case, lives, some):
    """What this run is to do of the case: the single kill that was asked for; every write of the lives; or, in a short run,
    of each life in `some` every step-th write: {life: (step, offset)}."""
    if ONLY:
        case.test_only = KillCase.kill_once
    elif WHOLE:
        for life in lives:
            setattr(case, f"test_{life}", lambda self, life=life: self.kill_everywhere(life))
        case.test_again_and_again = lambda self: self.kill_again_and_again(lives)
    else:
        for life, which in some.items():
            setattr(case, f"test_{life}_some", lambda self, life=life, which=which: self.kill_some(life, *which))
