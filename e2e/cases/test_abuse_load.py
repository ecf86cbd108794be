"""An API server that is slow, or restarts repeatedly: how soon the operator serves tenants then. Each docstring names the
harm that is prevented.

    e2e/run abuse_load
"""
import signal
import sys
import time

import support
from lib.faults import Tended
from support import GROUP, JOBS, OPERATOR, VERSION, given, wait_phase
from tenants import Tenants, install_chart, role

RUNS = "whole"
CLUSTER = {"nodes": 6}  # of 8 GPUs, 110 pods
# Clients wait longer after each failure; half a minute was seen.
SOON = 15


def setUpModule():
    install_chart()


class Bodies(Tenants):
    """The operator makes bodies of pods only while few are under way, as they use memory."""

    def placed_beside(self, kilobytes):
        """The seconds until a gang of two runs beside 500 pods of that size that are being created."""
        heavy = role(replicas=250, cpu="1m")
        heavy["template"]["spec"]["containers"][0]["args"] = ["x" * 1000 * kilobytes]
        attackers = [self.attack(f"of-{kilobytes}-{number}", heavy)[1] for number in range(2)]
        with support.watch_pods(self.namespace) as pods:
            pods.wait(len, "the first of its pods is there")
            took = self.is_placed(self.submits(f"beside-{kilobytes}", role(replicas=2, gpus=8)), within=180)
            for name in attackers:
                self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, JOBS, name)
            pods.wait(lambda all_: not all_, "its pods are gone", 180)
        return took

    def test_pods_of_600_kilobytes(self):
        """In order of arrival a gang of two would wait for all 500 of them, 47 s."""
        small = self.placed_beside(1)
        large = self.placed_beside(600)
        self.assertLess(large, 3 * small + 10)


class Restarts(support.Case):
    def test_a_gang_after_three_restarts_of_the_api_server(self):
        operator = Tended(given(), OPERATOR)
        self.addCleanup(operator.stop, end=False)
        support.create_job(self.namespace, support.job("before", replicas=2))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "before", "Running")
        for _ in range(3):
            given().restart("kube-apiserver", signal.SIGKILL)
            time.sleep(3)
        begun = time.monotonic()
        support.create_job(self.namespace, support.job("after", replicas=2))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "after", "Running")
            took = time.monotonic() - begun
            print(f"{self.id().rpartition('.')[2]}: after runs after {took:.1f} s; the operator ended {len(operator.deaths)} times",
                  file=sys.stderr, flush=True)
            self.assertLess(took, SOON)
            self.assertEqual("Running", support.phase(jobs.objects[(self.namespace, "before")]))
