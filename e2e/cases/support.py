"""Shared by the end-to-end cases: the cluster that they were given, stock clients for it, and waiting for events.

Cases look from outside: kubectl, the official Python client, signals to processes, logs and metrics. A case
file states at its top which cluster it needs, as `CLUSTER = {...}` with the options of Cluster.up; e2e/run
starts it.
"""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "e2e"))
from kubernetes import client, config  # noqa: E402  pylint: disable=wrong-import-position
from kubernetes.watch.watch import iter_resp_lines  # noqa: E402  pylint: disable=wrong-import-position
from lib import processes  # noqa: E402  pylint: disable=wrong-import-position
from lib.cluster import Cluster  # noqa: E402  pylint: disable=wrong-import-position

GROUP, VERSION, JOBS, GANGS = "trainyard.dev", "v1alpha1", "trainingjobs", "gangs"
GATE = "trainyard.dev/gang"
JOB_NAME = "trainyard.dev/job-name"
RUN_FOR = "sim.trainyard.dev/run-for"
EXIT_CODE = "sim.trainyard.dev/exit-code"
RACK = "cloud.provider.com/topology-rack"
GPU = "nvidia.com/gpu"
SECOND_SCHEDULER = "second-scheduler"
OPERATOR, EXTENDER = "trainyard-operator", "trainyard-extender"
SYSTEM = "trainyard-system"

# For what takes a second on a quiet machine; a limit, not an expectation.
PATIENCE = 60

_given = {}


def given():
    """The cluster that e2e/run made for this file; its own Python process started it."""
    return _given["cluster"]


def give(cluster):
    _given["cluster"] = cluster
    api = config.new_client_from_config(str(cluster.kubeconfig))
    _given.update(core=client.CoreV1Api(api), custom=client.CustomObjectsApi(api), api=api)


def leases():
    api = client.CoordinationV1Api(api_client())
    return Recorder(api.list_namespaced_lease, SYSTEM, field_selector=f"metadata.name={OPERATOR}")


def holder(objects):
    """The identity of the leader in the objects of leases(); "" without one."""
    lease = objects.get((SYSTEM, OPERATOR))
    return lease["spec"].get("holderIdentity") or "" if lease else ""


def wait_leader():
    with leases() as found:
        found.wait(holder, "an operator leads")


def core():
    return _given["core"]


def custom():
    return _given["custom"]


def api_client():
    return _given["api"]


def kubectl(*args, **options):
    return given().kubectl(*args, **options)


class Recorder:
    """Lists, then watches a collection: what exists now and every event in the order of the API server.

        function: a list function of the official client, with its arguments; objects are plain dicts.
        check(kind, object, objects), if given, is called at every event, before any wait() returns; what it raises
        is raised again by the next wait() and by stop().
        """

    def __init__(self, function, *args, check=None, **kwargs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self._check = check
        self._changed = threading.Condition()
        self._stopping = False
        self._response = None
        self._error = None
        self.objects = {}
        self.events = []
        first = json.loads(self._call().data)
        for item in first["items"]:
            self._take("ADDED", item)
        self._version = first["metadata"]["resourceVersion"]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop(quiet=kind is not None)

    def wait(self, predicate, what, timeout=PATIENCE):
        """Waits until predicate({(namespace, name): object}) is true; returns its value."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                self._raise()
                value = predicate(self.objects)
                if value:
                    return value
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"not within {timeout} s: {what}\nseen last: {self._digest()}")
                self._changed.wait(left)

    def stop(self, quiet=False):
        self._stopping = True
        # Again and again: the thread may just be asking for its next stream.
        while self._thread.is_alive():
            connection = getattr(self._response, "connection", None)
            if connection is not None and connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
            self._thread.join(0.05)
        if not quiet:
            self._raise()

    def _raise(self):
        if self._error is not None:
            raise self._error

    def _digest(self):
        lines = []
        for (namespace, name), item in sorted(self.objects.items()):
            status = item.get("status", {})
            lines.append(f"{namespace}/{name}: node={item.get('spec', {}).get('nodeName')} "
                         f"phase={status.get('phase')} pending={json.dumps(status.get('pending'))} "
                         f"deleting={item['metadata'].get('deletionTimestamp')}")
        return "\n  ".join(lines) or "nothing"

    def _call(self, **more):
        return self._function(*self._args, **self._kwargs, _preload_content=False, **more)

    def _run(self):
        try:
            while not self._stopping:
                self._response = self._call(watch=True, resource_version=self._version, timeout_seconds=300)
                for line in iter_resp_lines(self._response):
                    self._event(json.loads(line))
        except Exception as error:  # pylint: disable=broad-except
            with self._changed:
                if not self._stopping:
                    self._error = error
                self._changed.notify_all()

    def _event(self, event):
        if event["type"] == "ERROR":
            raise AssertionError(f"the watch failed: {event['object']}")
        with self._changed:
            self._version = event["object"]["metadata"]["resourceVersion"]
            self._take(event["type"], event["object"])
            self._changed.notify_all()

    def _take(self, kind, item):
        key = (item["metadata"].get("namespace"), item["metadata"]["name"])
        self.events.append((kind, item))
        if kind == "DELETED":
            self.objects.pop(key, None)
        else:
            self.objects[key] = item
        if self._check:
            self._check(kind, item, self.objects)


def watch_jobs(namespace=None, **options):
    if namespace is None:
        return Recorder(custom().list_cluster_custom_object, GROUP, VERSION, JOBS, **options)
    return Recorder(custom().list_namespaced_custom_object, GROUP, VERSION, namespace, JOBS, **options)


def watch_gangs(namespace, **options):
    return Recorder(custom().list_namespaced_custom_object, GROUP, VERSION, namespace, GANGS, **options)


def watch_pods(namespace=None, **options):
    if namespace is None:
        return Recorder(core().list_pod_for_all_namespaces, **options)
    return Recorder(core().list_namespaced_pod, namespace, **options)


# ---- objects

def job(name, replicas=4, gpus=8, run_for=None, annotations=None, **spec):
    """A PyTorch job of one role; without run_for its pods run until finish()."""
    notes = dict(annotations or {})
    if run_for:
        notes[RUN_FOR] = run_for
    template = {"metadata": {"annotations": notes},
                "spec": {"containers": [{"name": "train", "image": "train",
                                         "resources": {"limits": {GPU: gpus}}}]}}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"framework": "PyTorch",
                     "roles": [{"name": "worker", "replicas": replicas, "template": template}], **spec}}


def pod(name, gpus, node=None, scheduler=None, priority=None):
    """A pod that belongs to no TrainingJob."""
    spec = {"containers": [{"name": "c", "image": "c", "resources": {"limits": {GPU: gpus}}}],
            "terminationGracePeriodSeconds": 0}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    if scheduler:
        spec["schedulerName"] = scheduler
    if priority:
        spec["priorityClassName"] = priority
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def create_job(namespace, body):
    return custom().create_namespaced_custom_object(GROUP, VERSION, namespace, JOBS, body)


def get_job(namespace, name):
    return custom().get_namespaced_custom_object(GROUP, VERSION, namespace, JOBS, name)


def delete_job(namespace, name):
    return custom().delete_namespaced_custom_object(GROUP, VERSION, namespace, JOBS, name)


def condition(item, kind):
    for each in item.get("status", {}).get("conditions", []):
        if each["type"] == kind:
            return each
    return None


def holds(item, kind):
    found = condition(item, kind)
    return found is not None and found["status"] == "True"


def phase(item):
    return item.get("status", {}).get("phase") if item else None


def job_of(item):
    return item["metadata"].get("labels", {}).get(JOB_NAME)


def gated(item):
    return any(gate["name"] == GATE for gate in item["spec"].get("schedulingGates", []))


def node_of(item):
    return item["spec"].get("nodeName")


def ended(item):
    return item["status"].get("phase") in ("Succeeded", "Failed")


def members(objects, name):
    return {key[1]: item for key, item in objects.items() if job_of(item) == name}


def members_now(namespace, name):
    """The members as the API server has them: one watch may be behind another, so a wait for the job is not a wait for
    its pods."""
    listed = json.loads(kubectl("get", "pods", "-n", namespace, "-l", f"{JOB_NAME}={name}", "-o", "json"))
    return {item["metadata"]["name"]: item for item in listed["items"]}


def finish(namespace, name):
    """Ends the simulated members of a job."""
    kubectl("annotate", "pods", "-n", namespace, "-l", f"{JOB_NAME}={name}", f"{RUN_FOR}=0s")


def wait_phase(jobs, namespace, name, wanted, timeout=PATIENCE):
    return jobs.wait(lambda all_: phase(all_.get((namespace, name))) == wanted and all_[(namespace, name)],
                     f"{namespace}/{name} is {wanted}", timeout)


class Case(unittest.TestCase):
    """A namespace for each test; at its end all jobs and pods in it are deleted, and the test waits until none is
    left."""
    maxDiff = None

    def setUp(self):
        # Two classes of a file may have a test of the same name.
        kind, test = (part.removeprefix("test_").replace("_", "-").lower() for part in self.id().split(".")[-2:])
        self.namespace = self.make_namespace(f"e2e-{kind[:10]}-{test[:34]}".strip("-"))

    def make_namespace(self, name):
        core().create_namespace({"metadata": {"name": name}})
        # Without its account every pod of the namespace is refused.
        with Recorder(core().list_namespaced_service_account, name) as accounts:
            accounts.wait(lambda all_: (name, "default") in all_, f"namespace {name} has an account")
        self.addCleanup(self.empty, name)
        return name

    def empty(self, namespace):
        for item in custom().list_namespaced_custom_object(GROUP, VERSION, namespace, JOBS)["items"]:
            delete_job(namespace, item["metadata"]["name"])
        core().delete_collection_namespaced_pod(
            namespace, label_selector=f"!{JOB_NAME}", grace_period_seconds=0)
        core().delete_collection_namespaced_pod(namespace, label_selector="trainyard.dev/gang", grace_period_seconds=0)
        try:
            with watch_jobs(namespace) as jobs:
                jobs.wait(lambda all_: not all_, f"all jobs of {namespace} are gone")
            with watch_pods(namespace) as pods:
                pods.wait(lambda all_: not all_, f"all pods of {namespace} are gone")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{what_stays(namespace)}") from None


def what_stays(namespace):
    """The jobs and pods of a namespace, whole, and what the simulated kubelets could not do for these pods."""
    kept = kubectl("get", "trainingjobs,pods", "-n", namespace, "-o", "yaml")
    refused = [line for line in given().log("kwok").read_text().splitlines()
               if '"ERROR"' in line and f'"{namespace}/' in line]
    return "\n".join(["--- what stays", kept, "--- errors of kwok", *refused])


# ---- processes

def log_lines(name):
    """The log of one of Trainyard's programs, decoded; a line that is no JSON object is a failure."""
    found = []
    for number, line in enumerate(given().log(name).read_text().splitlines(), 1):
        try:
            found.append(json.loads(line))
        except ValueError:
            raise AssertionError(f"{given().log(name)}:{number} is no JSON: {line}") from None
    return found


def await_value(read, test, what, timeout=PATIENCE):
    """For what has no events to wait for, metrics and logs: reads until the test holds; returns the value."""
    deadline = time.monotonic() + timeout
    while True:
        value = read()
        if test(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what}\nread last: {value}")
        time.sleep(0.1)


def wait_exit(name, timeout=PATIENCE):
    """How the process ended, as text: 'exit code 0', 'killed by SIGKILL'."""
    record = given().processes()[name]
    if not processes.wait_gone(record["pid"], record["ticks"], timeout):
        raise AssertionError(f"{name} has not ended within {timeout} s")
    return processes.exit_text(record["pid"], record["ticks"])


def run(argv, **options):
    """A program of the repository, from outside; returns the finished process."""
    environment = {**processes.environment(), **options.pop("environment", {})}
    return subprocess.run([str(each) for each in argv], text=True, capture_output=True, check=False,
                          env=environment, **options)


def bin_dir():
    return os.environ["TRAINYARD_E2E_BIN"]


def program(name, folder="cli"):
    """Where a build, or a folder of programs, has it."""
    places = [ROOT / bin_dir() / folder / name, ROOT / bin_dir() / name]
    return next((path for path in places if path.is_file()), places[0])


def start_second_scheduler():
    """A second stock kube-scheduler with the configuration of the first, under its own name; running already is fine."""
    cluster = given()
    if SECOND_SCHEDULER in cluster.processes():
        return
    config = json.loads((cluster.dir / "kube-scheduler.yaml").read_text())
    config["profiles"] = [{"schedulerName": SECOND_SCHEDULER}]
    path = cluster.dir / f"{SECOND_SCHEDULER}.yaml"
    path.write_text(json.dumps(config))
    port = cluster.spare_ports[0]
    argv = [cluster.tools["kube-scheduler"], f"--config={path}", "--bind-address=127.0.0.1",
            f"--secure-port={port}", "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"]
    cluster.run(SECOND_SCHEDULER, argv, ready=f"https://127.0.0.1:{port}/healthz", timeout=60)
