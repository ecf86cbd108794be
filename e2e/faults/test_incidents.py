"""Incidents are caused one after the other: the alert that the runbook has for each fires, and ends with it.

Every time in the chart's own rules is divided by sixty, so that a minute of the runbook is a second here; a real
Prometheus reads them, and scrapes the real programs.
"""
import contextlib
import datetime
import json
import re
import shutil
import signal
import sys
import time
import unittest

import support
from lib.faults import FaultProxy, take_port
from lib.prometheus import Prometheus
from support import EXTENDER, GPU, OPERATOR, SYSTEM, create_job, given, job, kubectl, wait_phase

sys.path.insert(0, str(support.ROOT / "tests"))
import monitoring  # noqa: E402  pylint: disable=wrong-import-position

RUNS = "whole"
CLUSTER = {"nodes": 4}
CLIENT = "operator-a"
PATIENCE = 180
GPUS = 32  # of the cluster
CERTIFICATES = "trainyard-extender"  # whose Secrets are the operator's to write


def hurried(rules):
    """The rules with a second for each of their minutes."""
    seconds = {"s": 1, "m": 60, "h": 3600}
    def shorter(match):
        return f"{max(int(match[1]) * seconds[match[2]] // 60, 1)}s"
    rules = re.sub(r"(?<=for: )(\d+)([smh])\b", shorter, rules)
    # A rate wants several scrapes, which come once a second.
    rules = re.sub(r"\[(\d+)([smh])\]", lambda match: "[10s]" if shorter(match) < "10s" else f"[{shorter(match)}]", rules)
    for ages in ("900", "3600"):
        rules = rules.replace(f"> {ages}\n", f"> {int(ages) // 60}\n").replace(f"> {ages})", f"> {int(ages) // 60})")
    return rules


@unittest.skipUnless(shutil.which("prometheus"), "Prometheus is not installed: tools/deps monitoring")
class Incidents(support.Case):
    """The cluster's own operator is stopped: one behind a proxy that injects faults replaces it."""

    @classmethod
    def setUpClass(cls):
        given().stop(OPERATOR)
        cls.proxy = FaultProxy(given(), [CLIENT])
        binary, *flags = given().processes()[OPERATOR]["argv"]
        cls.url = f"http://127.0.0.1:{take_port(given())}"
        kubeconfig = cls.proxy.kubeconfig(given().dir / f"{OPERATOR}.kubeconfig", CLIENT)
        own = ("--kubeconfig", "--listen")
        cls.argv = [binary, *(flag for flag in flags if not flag.startswith(own)), f"--kubeconfig={kubeconfig}",
                    f"--listen={cls.url.removeprefix('http://')}"]
        cls.run_operator(CLIENT)
        cls.prometheus = Prometheus(given(), hurried(monitoring.RULES.read_text()),
                                    {"trainyard-operator-metrics": [CLIENT], "trainyard-extender-metrics": [EXTENDER]})

    @classmethod
    def run_operator(cls, name, *flags):
        given().run(name, [*cls.argv, f"--identity={name}", *flags], ready=f"{cls.url}/readyz", metrics=f"{cls.url}/metrics",
                    timeout=60)

    @classmethod
    def tearDownClass(cls):
        given().stop(CLIENT)
        cls.proxy.stop()
        given().start(OPERATOR)

    def setUp(self):
        super().setUp()
        self.jobs = self.enterContext(support.watch_jobs(self.namespace))

    @contextlib.contextmanager
    def incident(self, alert):
        """The block causes the incident: then the alert fires. What follows the block ends it."""
        self.assertEqual(set(), self.prometheus.states(alert))
        yield
        support.await_value(lambda: self.prometheus.states(alert), lambda found: "firing" in found, f"{alert} fires", PATIENCE)

    def over(self, alert):
        support.await_value(lambda: self.prometheus.states(alert), lambda found: not found, f"{alert} is over", PATIENCE)

    def test_leader_lost(self):
        with self.incident("TrainyardNoLeader"):
            given().stop(CLIENT)
        given().start(CLIENT)
        self.over("TrainyardNoLeader")

    def test_extender_down(self):
        with self.incident("TrainyardExtenderDown"):
            given().stop(EXTENDER)
        given().start(EXTENDER)
        self.over("TrainyardExtenderDown")

    def test_api_throttled(self):
        """Its requests are throttled, and it continues to send them."""
        with self.incident("TrainyardApiThrottled"):
            self.proxy.rules(CLIENT, {"kind": "write", "fault": "answer", "code": 429, "retryAfter": 1})
            create_job(self.namespace, job("patient"))
        self.proxy.reset(CLIENT)
        wait_phase(self.jobs, self.namespace, "patient", "Running", PATIENCE)
        self.over("TrainyardApiThrottled")

    def test_api_fails(self):
        """All requests but those of the lease fail: a leader that cannot renew it ends, which is another incident."""
        names = [f"patient-{index}" for index in range(GPUS)]
        with self.incident("TrainyardApiFails"):
            self.proxy.rules(CLIENT, *({"kind": kind, "fault": "answer", "code": 500} for kind in ("write", "read", "event")))
            # One a second: what fails is tried ever more seldom, and a window without a request shows no failure.
            for name in names:
                create_job(self.namespace, job(name, replicas=1, gpus=1))
                time.sleep(1)
        self.proxy.reset(CLIENT)
        for name in names:
            wait_phase(self.jobs, self.namespace, name, "Running", PATIENCE)
        self.over("TrainyardApiFails")

    def test_node_suspicion(self):
        """The last failures of two jobs happened on one node, of a kind that nodes cause."""
        with self.incident("TrainyardNodeSuspected"):
            for name in ("first", "second"):
                create_job(self.namespace, job(name, run_for="1s", annotations={support.EXIT_CODE: "1"}, failure={"maxRestarts": 0}))
                wait_phase(self.jobs, self.namespace, name, "Failed")
                now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                failure = {"class": "GpuHardware", "node": "n0001", "message": "by the test", "time": now}
                kubectl("patch", "trainingjob", name, "-n", self.namespace, "--subresource=status", "--type=merge",
                        "-p", json.dumps({"status": {"lastFailure": failure}}))
        for name in ("first", "second"):
            support.delete_job(self.namespace, name)
        self.over("TrainyardNodeSuspected")

    def test_stuck_gang(self):
        """Its pods exist, and no scheduler binds them."""
        with self.incident("TrainyardGangStuck"):
            given().kill("kube-scheduler", signal.SIGSTOP)
            self.addCleanup(given().kill, "kube-scheduler", signal.SIGCONT)
            create_job(self.namespace, job("stuck"))
        given().kill("kube-scheduler", signal.SIGCONT)
        wait_phase(self.jobs, self.namespace, "stuck", "Running", PATIENCE)
        self.over("TrainyardGangStuck")

    def test_starving_queue(self):
        """Foreign pods hold what it is guaranteed."""
        kubectl("apply", "-f", "-", input=json.dumps({
            "apiVersion": "trainyard.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "starved"},
            "spec": {"guaranteed": {GPU: GPUS}}}))
        self.addCleanup(kubectl, "delete", "tyq", "starved")
        foreign = [f"foreign-{index}" for index in range(4)]
        for name in foreign:
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(support.pod(name, gpus=8)))
        with support.watch_pods(self.namespace) as pods:
            pods.wait(lambda all_: sum(bool(support.node_of(item)) for item in all_.values()) == 4, "the foreign pods are bound")
        with self.incident("TrainyardQueueStarves"):
            create_job(self.namespace, job("starves", queue="starved"))
        kubectl("delete", "pod", "-n", self.namespace, *foreign)
        wait_phase(self.jobs, self.namespace, "starves", "Running", PATIENCE)
        self.over("TrainyardQueueStarves")

    def test_loop_stalls(self):
        """It gets no processor for longer than a second, repeatedly."""
        def stall():
            given().kill(CLIENT, signal.SIGSTOP)
            time.sleep(1.5)  # what happens is that nothing happens
            given().kill(CLIENT, signal.SIGCONT)
            return self.prometheus.states("TrainyardLoopStalls")
        with self.incident("TrainyardLoopStalls"):
            support.await_value(stall, lambda found: "firing" in found, "it stalls", PATIENCE)
        self.over("TrainyardLoopStalls")

    def test_certificate_near_its_end(self):
        """Certificates of six days, and of a year once they are renewed."""
        secrets = [f"{CERTIFICATES}-{part}" for part in ("ca", "tls", "client")]
        for secret in secrets:
            kubectl("create", "secret", "generic", secret, "-n", SYSTEM)
        flag = f"--certificates-for={CERTIFICATES}"
        given().stop(CLIENT)
        self.addCleanup(given().start, CLIENT)
        with self.incident("TrainyardCertificateEnds"):
            self.run_operator("short", flag, "--certificate-days=6")
            self.addCleanup(given().stop, "short")
        given().stop("short")
        kubectl("delete", "secret", "-n", SYSTEM, *secrets)
        for secret in secrets:
            kubectl("create", "secret", "generic", secret, "-n", SYSTEM)
        self.run_operator("long", flag, "--certificate-days=365")
        self.addCleanup(given().stop, "long")
        self.over("TrainyardCertificateEnds")
