"""Queues and the cluster's policy as an administrator sees them: limits, namespaces, parents, status; a policy that changes."""
import json

import support
from lib.api import fetch
from support import GPU, GROUP, OPERATOR, SYSTEM, VERSION, condition, custom, given, job, kubectl, wait_phase

CLUSTER = {"nodes": 4}  # of 8 GPUs
H100 = "gpu-type.trainyard.dev/NVIDIA-H100-80GB-HBM3"
QUEUES = "queues"


def watch_queues():
    return support.Recorder(custom().list_cluster_custom_object, GROUP, VERSION, QUEUES)


def pending(jobs, key, reason, timeout=support.PATIENCE):
    def found(all_):
        waits = all_.get(key, {}).get("status", {}).get("pending", {})
        return waits if waits.get("reason") == reason else None
    return jobs.wait(found, f"{key[1]} waits: {reason}", timeout)


def not_admitted(jobs, key, reason):
    def found(all_):
        said = condition(all_.get(key, {}), "Admitted")
        return said if said and said["status"] == "False" and said["reason"] == reason else None
    return jobs.wait(found, f"{key[1]} is not admitted: {reason}")


def status(queues, name, test, what):
    return queues.wait(lambda all_: (lambda found: test(found) and found)(all_.get((None, name), {}).get("status", {})),
                       f"queue {name}: {what}")


def ready(found):
    return condition({"status": found}, "Ready") or {"status": "?"}


class QueueCase(support.Case):
    def create_queue(self, name, **spec):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Queue", "metadata": {"name": name}, "spec": spec}
        made = custom().create_cluster_custom_object(GROUP, VERSION, QUEUES, body)
        self.addCleanup(self.delete_queue, name)
        return made

    @staticmethod
    def delete_queue(name):
        custom().delete_cluster_custom_object(GROUP, VERSION, QUEUES, name)

    def submit(self, name, queue, namespace=None, **options):
        support.create_job(namespace or self.namespace, job(name, queue=queue, **options))
        return namespace or self.namespace, name


class Status(QueueCase):
    def test_a_queue_reports_what_it_holds(self):
        self.create_queue("research", guaranteed={GPU: 16})
        self.create_queue("vision", parent="research", guaranteed={GPU: 8}, limit={GPU: 24, H100: 24})
        with support.watch_jobs(self.namespace) as jobs, watch_queues() as queues:
            empty = status(queues, "vision", lambda found: ready(found)["status"] == "True", "is ready")
            self.assertEqual((0, 0, 0), (empty["waiting"], empty["placed"], empty["share"]))
            self.submit("two", "vision", replicas=2)
            wait_phase(jobs, self.namespace, "two", "Running")
            for name in ("vision", "research"):
                found = status(queues, name, lambda found: found.get("usage", {}).get(GPU) == "16", "holds 16 GPUs")
                self.assertEqual(500, found["share"], "half of 32")
            self.assertEqual("16", status(queues, "vision", lambda found: found["placed"] == 1, "one job")["usage"][H100])
            self.shown(queues)
            support.finish(self.namespace, "two")
            wait_phase(jobs, self.namespace, "two", "Succeeded")
            over = status(queues, "vision", lambda found: found["share"] == 0, "holds nothing")
            self.assertEqual((0, 0), (over["waiting"], over["placed"]))

    def shown(self, queues):
        row = kubectl("get", "tyq", "vision", "--no-headers").split()
        self.assertEqual("vision research 1 8 24 16 500".split(), row[:7])
        program = next(path for path in (support.ROOT / support.bin_dir() / "cli" / "trainyard",
                                         support.ROOT / support.bin_dir() / "trainyard") if path.is_file())
        said = support.run([program, "queues", f"--kubeconfig={given().kubeconfig}", "-o", "json"])
        self.assertEqual("", said.stderr)
        items = {item["name"]: item for item in json.loads(said.stdout)["items"]}
        self.assertEqual(queues.objects[(None, "vision")]["status"]["usage"], items["vision"]["status"]["usage"])
        table = support.run([program, "queues", f"--kubeconfig={given().kubeconfig}"]).stdout.splitlines()
        self.assertEqual("QUEUE", table[0].split()[0])
        self.assertIn("  vision", [line[:8] for line in table], "below its parent")


class Limits(QueueCase):
    def test_a_queue_never_exceeds_its_limit(self):
        self.create_queue("small", limit={GPU: 8})
        with support.watch_jobs(self.namespace) as jobs, watch_queues() as queues:
            self.submit("first", "small", replicas=1)
            wait_phase(jobs, self.namespace, "first", "Running")
            second = self.submit("second", "small", replicas=1)
            self.assertIn("8", pending(jobs, second, "WaitingForQuota")["message"])
            status(queues, "small", lambda found: found["waiting"] == 1 and found["placed"] == 1, "one waits")
            never = self.submit("never", "small", replicas=2)
            self.assertIn("16", not_admitted(jobs, never, "QuotaExceeded")["message"])
            custom().patch_cluster_custom_object(GROUP, VERSION, QUEUES, "small", {"spec": {"limit": {GPU: 16}}})
            wait_phase(jobs, self.namespace, "second", "Running")
            support.finish(self.namespace, "first")
            support.finish(self.namespace, "second")
            wait_phase(jobs, self.namespace, "never", "Running")

    def test_a_limit_on_a_type_of_gpu(self):
        self.create_queue("typed", limit={H100: 8})
        with support.watch_jobs(self.namespace) as jobs:
            self.submit("first", "typed", replicas=1)
            wait_phase(jobs, self.namespace, "first", "Running")
            second = self.submit("second", "typed", replicas=1, gpus=1)
            jobs.wait(lambda all_: all_.get(second, {}).get("status", {}).get("pending"), "the second waits")
            support.finish(self.namespace, "first")
            wait_phase(jobs, self.namespace, "second", "Running")


class Admission(QueueCase):
    def test_only_chosen_namespaces_may_use_a_queue(self):
        self.create_queue("teams", namespaceSelector={"matchLabels": {"team": "vision"},
                                                      "matchExpressions": [{"key": "guest", "operator": "DoesNotExist"}]})
        with support.watch_jobs(self.namespace) as jobs:
            key = self.submit("asks", "teams", replicas=1)
            self.assertIn(self.namespace, not_admitted(jobs, key, "NamespaceNotAllowed")["message"])
            kubectl("label", "namespace", self.namespace, "team=vision")
            wait_phase(jobs, self.namespace, "asks", "Running")

    def test_a_parent_that_is_not_there(self):
        with support.watch_jobs(self.namespace) as jobs, watch_queues() as queues:
            self.create_queue("orphan", parent="missing")
            said = ready(status(queues, "orphan", lambda found: ready(found)["status"] == "False", "is not ready"))
            self.assertEqual("ParentNotFound", said["reason"])
            self.assertIn("missing", said["message"])
            key = self.submit("waits", "orphan", replicas=1)
            not_admitted(jobs, key, "QueueNotReady")
            self.create_queue("missing")
            wait_phase(jobs, self.namespace, "waits", "Running")
            status(queues, "orphan", lambda found: ready(found)["status"] == "True", "is ready")

    def test_a_circle_of_parents(self):
        with watch_queues() as queues:
            self.create_queue("left", parent="right")
            self.create_queue("right", parent="left")
            for name in ("left", "right"):
                said = ready(status(queues, name, lambda found: ready(found).get("reason") == "ParentCycle", "a circle"))
                self.assertEqual("False", said["status"])


class Policy(QueueCase):
    def setUp(self):
        super().setUp()
        self.file = given().dir / "policy.yaml"
        self.addCleanup(self.write, self.file.read_text())

    def write(self, text):
        """Changes it as a ConfigMap's volume changes: another file, in one step."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(self.file)

    def metric(self, name):
        _, text = fetch(given().processes()[OPERATOR]["metrics"])
        return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"{name} ")), None)

    def await_metric(self, name, value):
        support.await_value(lambda: self.metric(name), lambda found: found == value, f"{name} is {value}")

    def test_a_policy_is_loaded_without_a_restart(self):
        taken = self.metric('trainyard_policy_reloads_total{result="taken"}')
        with support.watch_jobs(self.namespace) as jobs:
            key = self.submit("aisle", "default", replicas=2, locality={"required": "aisle"})
            self.assertIn("aisle", not_admitted(jobs, key, "InvalidSpec")["message"])
            self.write("topology:\n- {name: aisle, label: cloud.provider.com/topology-rack}\n")
            wait_phase(jobs, self.namespace, "aisle", "Running")
        self.await_metric('trainyard_policy_reloads_total{result="taken"}', taken + 1)

    def test_a_bad_policy_changes_nothing_and_is_reported(self):
        refused = self.metric('trainyard_policy_reloads_total{result="refused"}')
        kubectl("create", "configmap", "trainyard-policy", "-n", SYSTEM)
        self.addCleanup(kubectl, "delete", "configmap", "trainyard-policy", "-n", SYSTEM)
        self.write("ordering: fifo\nrelaxation: {perGpu: NaN}\n")
        self.await_metric("trainyard_policy_last_reload_success", 0)
        self.await_metric('trainyard_policy_reloads_total{result="refused"}', refused + 1)
        words = f"{self.file}:2: relaxation.perGpu: must be a duration such as 90s, 10m or 1h30m, not NaN"
        lines = [line for line in support.log_lines(OPERATOR) if line.get("error") == words]
        self.assertEqual(1, len(lines), "logged once")
        support.await_value(lambda: kubectl("describe", "configmap", "trainyard-policy", "-n", SYSTEM),
                            lambda text: "PolicyRefused" in text and words in text, "an Event about the ConfigMap")
        with support.watch_jobs(self.namespace) as jobs:
            self.submit("still", "default", replicas=1, run_for="1s")
            wait_phase(jobs, self.namespace, "still", "Succeeded")
        self.write("# Repaired.\n")
        self.await_metric("trainyard_policy_last_reload_success", 1)

    def test_no_program_starts_on_a_bad_policy(self):
        bad = given().dir / "bad-policy.yaml"
        bad.write_text("ordring: fifo\n")
        binary, *flags = given().processes()[OPERATOR]["argv"]
        flags = [flag for flag in flags if not flag.startswith(("--listen", "--policy="))]
        for path, words in ((bad, f"{bad}:1: ordring: is not a known key"), ("/no/such/file", "/no/such/file: cannot be read")):
            with self.subTest(path):
                done = support.run([binary, *flags, "--listen=127.0.0.1:0", f"--policy={path}"], timeout=10)
                self.assertEqual(1, done.returncode)
                self.assertIn(words, done.stderr)
