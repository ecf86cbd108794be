"""An API server that loses answers, is slow, refuses, and cuts watches: every gang still ends as it should.

The affected requests follow from a seed: TRAINYARD_FAULTS_SEED=7 e2e/run --faults answers -k lost
"""
import unittest

from gangs import SEED, WHOLE, FaultCase, note

CLUSTER = {"nodes": 4}
LIVES = ("start", "one", "restart", "compete", "abort")
ROUNDS = 2 if WHOLE else 1


def write(fault, share, **more):
    return {"kind": "write", "fault": fault, "share": share, **more}


def answer(kind, code, share, **more):
    return {"kind": kind, "fault": "answer", "code": code, "share": share, **more}


# What is done to a part of the requests. Leases are left alone, except in the last: a leader that cannot
# renew its lease ends and is started again, which is another matter than an answer.
FAULTS = {
    "lost_replies": [write("lose", 0.2)],
    "lost_requests": [write("drop", 0.2)],
    "delays": [write("delay", 0.15, seconds=0.5), write("delay-reply", 0.15, seconds=0.5)],
    "conflict_409": [answer("write", 409, 0.2)],
    "gone_410": [answer("write", 410, 0.1), answer("read", 410, 0.3), answer("watch", 410, 0.2),
                 answer("watch", 200, 0.2, expired=True), write("cut", 0.05)],
    "too_many_429": [answer("write", 429, 0.15, retryAfter=1), answer("read", 429, 0.2, retryAfter=1),
                     answer("watch", 429, 0.1, retryAfter=1), write("cut", 0.05)],
    "error_500": [answer("write", 500, 0.2), answer("read", 500, 0.2), answer("watch", 500, 0.1),
                  write("cut", 0.05)],
    # A client whose watches break repeatedly waits longer each time, so this affects few of them.
    "cut_watches": [write("cut", 0.1)],
    "leases_lost": [{"kind": "lease", "fault": "drop", "share": 0.5}, answer("lease", 500, 0.5),
                    write("delay-reply", 0.2, seconds=1)],
}
MIXED = [write("lose", 0.08), write("drop", 0.05), write("cut", 0.05),
         write("delay-reply", 0.08, seconds=0.3), answer("write", 409, 0.05),
         answer("write", 500, 0.05), answer("write", 429, 0.05, retryAfter=1),
         answer("watch", 410, 0.2), answer("watch", 200, 0.1, expired=True)]


class Answers(FaultCase):
    def suffer(self, name, rules, lives):
        client, hits = self.operator.client, 0
        for turn in range(ROUNDS):
            for life in lives:
                seed = SEED + turn
                self.proxy.reset(client)
                self.proxy.rules(client, *({**rule, "seed": f"{seed} {life} {number}"}
                                           for number, rule in enumerate(rules)))
                self.live(life, f"{name}, TRAINYARD_FAULTS_SEED={seed}")
                state = self.proxy.state(client)
                hits += len(state["hits"])
                note(f"{name:14} {life:8} seed {seed}: {len(state['hits']):3} faults, {state['counts']}")
        self.assertGreater(hits, 0, "no request was struck")


def _case(name, rules, lives):
    def test(self):
        self.suffer(name, rules, lives)
    return test


if WHOLE:
    for _name, _rules in FAULTS.items():
        setattr(Answers, f"test_{_name}", _case(_name, _rules, LIVES))
else:
    Answers.test_mixed = _case("mixed", MIXED, ("start", "restart"))

if __name__ == "__main__":
    unittest.main()
