"""Two tenants of one cluster: mallory, who has ClusterRole admin in one namespace, and a neighbour in another.

The chart's user roles and admission policies are in force. A case does as mallory what the API server permits an admin, and
then expects the neighbour's gang to run within BAR seconds of the moment from which it is entitled to its nodes. Each kind
of attack has a control in which mallory does the same without the attack. The seconds are printed.
"""
import contextlib
import sys
import threading
import time

import support
import yaml
from abuse import Abuse
from device_case import claim_template, device_class, node_slice
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from lib import helm, kwok
from support import GPU, GROUP, JOBS, OPERATOR, RUN_FOR, VERSION, given, kubectl, wait_phase

BAR = 40
CLAIM = "idle"
MALLORY = "mallory"


def install_chart(values=None, also=()):
    """Applies the chart's roles and policies, and the template files in `also`; returns when the API server enforces the
    policies."""
    text = helm.template(given().tools["helm"], values, only=["user-roles", "admission-policies", *also])
    kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=text)
    names = [item["metadata"]["name"] for item in yaml.safe_load_all(text)
             if item and item["kind"] == "ValidatingAdmissionPolicy"]
    for name in names:
        support.await_value(lambda name=name: given().json("get", "validatingadmissionpolicy", name).get("status", {}),
                            lambda status: "observedGeneration" in status, f"{name} is checked")
    time.sleep(2)  # the API server takes what it has read of policies once a second
    return names


def role(name="worker", replicas=1, gpus=0, cpu=None, nodes=None, run_for=None, **spec):
    """A role of a TrainingJob; nodes: indices of the nodes that it is restricted to; spec: more of the pod's spec."""
    resources = {"limits": {GPU: gpus}} if gpus else {}
    if cpu:
        resources["requests"] = {"cpu": cpu}
    spec = {"containers": [{"name": "c", "image": "c", "resources": resources}], **spec}
    if nodes is not None:
        spec["affinity"] = on_nodes(nodes)
    notes = {RUN_FOR: run_for} if run_for else {}
    return {"name": name, "replicas": replicas, "template": {"metadata": {"annotations": notes}, "spec": spec}}


def on_nodes(indices):
    names = [kwok.node_name(index) for index in indices]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": names}]}]}}}


def job(name, *roles, seconds=None, framework="PyTorch", **spec):
    """A TrainingJob; seconds: its estimated duration."""
    if seconds:
        spec["estimate"] = {"durationSeconds": seconds}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"framework": framework, "roles": list(roles), **spec}}


def never_bound():
    """The part of a pod's spec that keeps it unbound, see Tenants.claim()."""
    return {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": CLAIM}]}


class Again(threading.Thread):
    """Calls function(count) at this interval until stop(); a refusal by the API server is not an error."""

    def __init__(self, seconds, function):
        super().__init__(daemon=True)
        self._seconds, self._function = seconds, function
        self._stopped = threading.Event()
        self.calls = 0
        self.start()

    def run(self):
        while not self._stopped.is_set():
            with contextlib.suppress(ApiException):
                self._function(self.calls)
            self.calls += 1
            self._stopped.wait(self._seconds)

    def stop(self):
        self._stopped.set()
        self.join()


class Tenants(Abuse):
    """self.namespace is mallory's, self.others the neighbour's."""

    def setUp(self):
        super().setUp()
        kubectl("create", "rolebinding", MALLORY, "-n", self.namespace, "--clusterrole=admin", f"--user={MALLORY}")
        api = config.new_client_from_config(str(given().kubeconfig))
        api.set_default_header("Impersonate-User", MALLORY)
        self.core, self.custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        support.await_value(self.may_create, bool, "the roles are aggregated")

    def tearDown(self):
        self.assertTrue(given().alive(OPERATOR))
        with support.leases() as leases:
            self.assertEqual(leases.wait(support.holder, "an operator leads"), self.leader, "another one leads")
        support.Case.tearDown(self)

    def may_create(self):
        asked = {"spec": {"resourceAttributes": {"group": GROUP, "resource": JOBS, "verb": "create",
                                                 "namespace": self.namespace}}}
        review = client.AuthorizationV1Api(self.core.api_client).create_self_subject_access_review(asked)
        return review.status.allowed

    # ---- mallory

    def attack(self, name, *roles, **spec):
        """Mallory submits a job."""
        self.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, JOBS, job(name, *roles, **spec))
        return self.namespace, name

    def holds(self, name, *roles, **spec):
        """Mallory submits a job that gets its nodes."""
        return wait_phase(self.jobs, *self.attack(name, *roles, **spec), "Running")

    def claim(self):
        """Devices and a template for claims on them, for pods that are never_bound(): the controller that makes the claims
        does not run in these clusters, and kube-scheduler holds such a pod back without a message."""
        device_class(CLAIM, 'device.driver.endsWith(".idle.example.com")')
        for item in support.core().list_node().items:
            for part in range(8):
                node_slice(item.metadata.name, [{"name": f"device-{number}"} for number in range(128)], f"d{part}.idle.example.com")
        claim_template(self.namespace, CLAIM, [(CLAIM, 1, None)])

    def is_being_started(self, name):
        """Its nodes are reserved: its members are being created, and are released when all exist."""
        self.jobs.wait(lambda all_: all_.get((self.namespace, name), {}).get("status", {}).get("gang", {}).get("proposal"),
                       f"{name} is being started")

    def again(self, seconds, function):
        loop = Again(seconds, function)
        self.addCleanup(loop.stop)
        return loop

    def delete_pod(self, name, grace=0):
        self.core.delete_namespaced_pod(name, self.namespace, grace_period_seconds=grace)

    def scale(self, name, replicas):
        self.custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, JOBS, name,
                                                   {"spec": {"elastic": {"replicas": replicas}}})

    def is_refused(self, words, function, *args):
        with self.assertRaises(ApiException) as caught:
            function(*args)
        self.assertEqual(caught.exception.status, 403, caught.exception.body)
        self.assertIn(words, caught.exception.body)

    # ---- the neighbour

    def submits(self, name, *roles, **spec):
        support.create_job(self.others, job(name, *roles, **spec))
        return self.others, name

    def runs_by(self, name, *roles, **spec):
        return wait_phase(self.jobs, *self.submits(name, *roles, **spec), "Running")

    def is_placed(self, key, since=None, within=BAR):
        """Waits for the placement at most `within` seconds from `since` (a time.monotonic(), by default now). Returns
        the seconds."""
        since = since or time.monotonic()
        seen = lambda: f"{time.monotonic() - since:.1f} s"
        try:
            wait_phase(self.jobs, *key, "Running", max(0.1, since + within - time.monotonic()))
        except AssertionError:
            status = self.jobs.objects.get(key, {}).get("status", {})
            raise AssertionError(f"{key[1]} is not placed after {seen()}: {status.get('pending')}, "
                                 f"phase {status.get('phase')}") from None
        took = time.monotonic() - since
        print(f"{self.id().rpartition('.')[2]}: {key[1]} runs after {took:.1f} s", file=sys.stderr, flush=True)
        return took

    def waits_at_all(self, key):
        self.jobs.wait(lambda all_: all_.get(key, {}).get("status", {}).get("pending", {}).get("reason"), f"{key[1]} waits")
