"""kill -9 of the operator at every write of a gang's life: before the write is sent, and after it was carried
out but before the answer. The next operator completes it; no member is doubled or lost, no GPU leaked.

A single kill again: TRAINYARD_FAULTS_KILL=start:7:kill-after e2e/run --faults kills
"""
import unittest

import kills

CLUSTER = {"nodes": 4}
LIVES = ("start", "one", "restart", "compete", "abort")


class Kills(kills.KillCase):
    pass


kills.add_tests(Kills, LIVES, {"start": (4, 1), "restart": (7, 3)})

if __name__ == "__main__":
    unittest.main()
