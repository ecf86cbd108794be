"""An API server that dies again and again: how soon the operator serves tenants after it.

    e2e/run abuse_restarts
"""
import signal
import time

import support
from lib.faults import Tended
from support import OPERATOR, given, job, wait_phase

RUNS = "whole"
CLUSTER = {"nodes": 4}  # of 8 GPUs
# Clients wait longer after each failure; half a minute was seen.
SOON = 15


class Restarts(support.Case):
    def test_a_gang_after_three_restarts(self):
        operator = Tended(given(), OPERATOR)
        self.addCleanup(operator.stop, end=False)
        support.create_job(self.namespace, job("before", replicas=2))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "before", "Running")
        for _ in range(3):
            given().restart("kube-apiserver", signal.SIGKILL)
            time.sleep(3)
        begun = time.monotonic()
        support.create_job(self.namespace, job("after", replicas=2))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "after", "Running")
            took = time.monotonic() - begun
            print(f"after three restarts a gang runs after {took:.1f} s; the operator ended {len(operator.deaths)} times")
            self.assertLess(took, SOON)
            self.assertEqual("Running", support.phase(jobs.objects[(self.namespace, "before")]))
