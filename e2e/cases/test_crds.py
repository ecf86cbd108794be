"""The resource definitions in crds/ on a real API server: what they refuse and with which messages, what they fill in, what
they keep from being changed, how they look in kubectl; and the nonsense that only an operator can detect, for which one
must be running.

    e2e/run crds
    TRAINYARD_E2E_KUBECONFIG=... TRAINYARD_E2E_KUBECTL=... python3 -m unittest -v e2e/cases/test_crds.py
"""
import calendar
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import unittest
from pathlib import Path

from lib.script import script_of

CLUSTER = {"nodes": 1}
ROOT = Path(__file__).resolve().parents[2]
NONSENSE = ROOT / "tests" / "crds" / "nonsense"
PARTLY = ROOT / "tests" / "crds" / "partly"
KUBECONFIG = os.environ.get("TRAINYARD_E2E_KUBECONFIG")
KUBECTL = os.environ.get("TRAINYARD_E2E_KUBECTL") or shutil.which("kubectl")
NAMESPACE = f"e2e-crds-{os.getpid()}"
# A job that names another controller is left alone by an operator that may be running, so that what these
# tests write into its status stays there.
UNMANAGED = "e2e.trainyard.dev/unmanaged"


def kubectl(*args, input=None, namespace=None):
    command = [KUBECTL, "--kubeconfig", KUBECONFIG, "-n", namespace or NAMESPACE, *args]
    return subprocess.run(command, input=input, text=True, capture_output=True, timeout=60)


def ok(*args, **options):
    done = kubectl(*args, **options)
    if done.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(args)}: {done.stderr}")
    return done.stdout


def get(*args):
    return json.loads(ok("get", *args, "-o", "json"))


def documents(path):
    """The objects of a YAML file, decoded by kubectl: Python's library has no YAML."""
    text = ok("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", str(path))
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found += value["items"] if value["kind"] == "List" else [value]
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def header(path):
    """The `# key: value` lines at the top of a file."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        key, separator, value = line[1:].strip().partition(": ")
        if separator and " " not in key:
            found[key] = value.strip()
    return found


def expecting(folder, what):
    files = [path for path in sorted(folder.glob("*.yaml")) if header(path).get("expect") == what]
    assert files, f"no file in {folder} expects {what}"
    return files


def job(name, **spec):
    template = {"metadata": {"labels": {"team": "a"}},
                "spec": {"containers": [{"name": "train", "image": "train"}]}}
    spec = {"framework": "PyTorch", "roles": [{"name": "worker", "replicas": 4, "template": template}],
            "managedBy": UNMANAGED, **spec}
    return resource("TrainingJob", name, spec)


def queue(name, **spec):
    return resource("Queue", name, spec)


def resource(kind, name, spec):
    return {"apiVersion": "trainyard.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def apply(thing, manager="e2e"):
    return ok("apply", "--server-side", f"--field-manager={manager}", "-f", "-", input=json.dumps(thing))


def patch(name, kind, what, *args):
    return kubectl("patch", "tj", name, f"--type={kind}", "-p", json.dumps(what), *args)


ELASTIC = {"role": "worker", "replicas": 4, "minReplicas": 2, "maxReplicas": 8}


def schemas():
    """Schemas as kubectl explain reads them; publishing takes a moment after the definitions are there."""
    for _ in range(50):
        done = kubectl("get", "--raw", "/openapi/v3/apis/trainyard.dev/v1alpha1")
        if done.returncode == 0:
            found = json.loads(done.stdout)["components"]["schemas"]
            kinds = {kind: found.get(f"dev.trainyard.v1alpha1.{kind}") for kind in ("TrainingJob", "Queue")}
            if all(kinds.values()):
                return kinds
        time.sleep(0.2)
    raise AssertionError("the API server does not publish the schemas of trainyard.dev/v1alpha1")


def children(schema):
    """(path element or "", schema) of what is directly below: properties, items, values of a map."""
    yield from schema.get("properties", {}).items()
    if "items" in schema:
        yield "", schema["items"]
    if isinstance(schema.get("additionalProperties"), dict):
        yield "", schema["additionalProperties"]


def fields(schema, path):
    """(path, schema) of every field below; list items and map values have the path of their list or map."""
    for name, child in children(schema):
        if path in ("trainingjob", "queue") and name in ("apiVersion", "kind", "metadata"):
            continue  # the API server describes these itself
        below = f"{path}.{name}" if name else path
        yield below, child
        yield from fields(child, below)


def explain(path):
    return ok("explain", path, "--api-version=trainyard.dev/v1alpha1")


def dry_run(what):
    """The object as the API server would store it."""
    return json.loads(ok("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(what)))


def present(value, path):
    """Whether some element of the value has the field."""
    if isinstance(value, list):
        return any(present(element, path) for element in value)
    return not path or (isinstance(value, dict) and path[0] in value and present(value[path[0]], path[1:]))


def sample(schema):
    """Some value that the schema allows, with every field that it has."""
    if schema.get("x-kubernetes-int-or-string"):
        return "8"
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        if "additionalProperties" in schema:
            return {"nvidia.com/gpu": sample(schema["additionalProperties"])}
        return {name: sample(child) for name, child in schema["properties"].items()}
    if schema["type"] == "array":
        return [sample(schema["items"])]
    if schema.get("format") == "date-time":
        return "2030-01-02T03:04:05Z"
    return {"string": "text", "integer": 7, "boolean": True}[schema["type"]]


def operator_lives():
    done = kubectl("get", "lease", "trainyard-operator", "-o", "json", namespace="trainyard-system")
    if done.returncode != 0:
        return False
    spec = json.loads(done.stdout)["spec"]
    if not spec.get("holderIdentity"):
        return False
    renewed = calendar.timegm(time.strptime(spec["renewTime"][:19], "%Y-%m-%dT%H:%M:%S"))
    return time.time() - renewed < spec["leaseDurationSeconds"]


def setUpModule():
    if not KUBECONFIG or not KUBECTL:
        raise RuntimeError("TRAINYARD_E2E_KUBECONFIG names no cluster, or there is no kubectl: e2e/run crds brings both")
    definitions = sorted((ROOT / "crds").glob("*.yaml"))
    for path in definitions:
        ok("apply", "--server-side", "--force-conflicts", "-f", str(path))
    names = [f"crd/{path.stem.split('_')[1]}.trainyard.dev" for path in definitions]
    ok("wait", "--for=condition=Established", "--timeout=30s", *names)
    schemas()
    ok("create", "namespace", NAMESPACE)


def tearDownModule():
    kubectl("delete", "namespace", NAMESPACE, "--wait=false")


class Refusals(unittest.TestCase):
    def test_the_api_server_refuses_and_names_the_field(self):
        for path in expecting(NONSENSE, "refused"):
            with self.subTest(path.stem):
                want = header(path)
                done = kubectl("create", "--dry-run=server", "-f", str(path))
                self.assertNotEqual(done.returncode, 0, "accepted")
                self.assertIn(want["field"], done.stderr)
                self.assertIn(want["says"], done.stderr)
                self.assertNotIn("no such key", done.stderr, "a rule failed to run instead of answering")

    def test_measurements_are_bounded_together(self):
        """Each number that is stored costs the API server time at every write of the job."""
        def steps(count, nodes):
            return [{"workersPerNode": [1] * nodes, "batchPerWorker": 1, "stepMicroseconds": 1}] * count
        field = "spec.plan.model.measurements"
        for measurements, words in ((steps(1, 257), f"{field}[0].workersPerNode: Too many: 257"),
                                    (steps(65, 1), f"{field}: Too many: 65"),
                                    (steps(171, 4096), "must have at most 256 items"),
                                    (steps(16, 256) + steps(1, 1), "must not have more than 4096 nodes in all"),
                                    (steps(16, 256), None)):
            with self.subTest(words):
                made = job("measured", plan={"model": {"batchPerWorker": 1, "measurements": measurements}})
                done = kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(made))
                self.assertEqual(done.returncode == 0, words is None, done.stderr)
                self.assertIn(words or "", done.stderr)

    def test_what_only_the_operator_refuses_is_well_formed_here(self):
        for path in expecting(NONSENSE, "Admitted=False") + expecting(PARTLY, "accepted"):
            with self.subTest(path.stem):
                ok("create", "--dry-run=server", "-f", str(path))


class SensibleObjects(unittest.TestCase):
    """Rules must not refuse sensible objects."""

    def test_every_field_at_once(self):
        for thing in documents(ROOT / "tests" / "crds" / "everything.yaml"):
            with self.subTest(thing["kind"]):
                done = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=json.dumps(thing))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["spec"], thing["spec"])
                spec = schemas()[thing["kind"]]["properties"]["spec"]
                unused = [path for path, _ in fields(spec, "spec") if not present(thing, path.split("."))]
                self.assertEqual(unused, [], "everything.yaml leaves fields out")

    def test_a_large_job_can_be_changed(self):
        """Rules have a budget at run time too; it must suffice for the largest job."""
        env = [{"name": f"VARIABLE_{i}", "value": "v" * 200} for i in range(400)]
        template = {"spec": {"containers": [{"name": "train", "image": "train", "env": env}]}}
        roles = [{"name": f"role{i}", "replicas": 10000, "template": template} for i in range(8)]
        names = [role["name"] for role in roles]
        apply(job("large", roles=roles, gang={"minAvailable": 80000}, success={"roles": names}))
        done = patch("large", "merge", {"spec": {"preemptible": False}})
        self.assertEqual(done.returncode, 0, done.stderr)


class OperatorAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not operator_lives():
            raise RuntimeError("no operator runs here: there is no live Lease trainyard-operator")

    def answer(self, path, condition):
        """Creates the job of the file and waits for the condition: the job, and the seconds that took."""
        [made] = documents(path)
        made["metadata"]["name"] = path.stem
        started = time.monotonic()
        ok("create", "-f", "-", input=json.dumps(made))
        kubectl("wait", f"tj/{path.stem}", f"--for=condition={condition}", "--timeout=5s")
        took = time.monotonic() - started
        self.addCleanup(kubectl, "delete", "tj", path.stem, "--wait=false")
        return get("tj", path.stem), took

    def test_not_admitted_within_a_second(self):
        begun = time.monotonic()
        ok("version", "--client")
        overhead = 3 * (time.monotonic() - begun)  # kubectl itself runs twice and has a connection to set up
        times = []
        for path in expecting(NONSENSE, "Admitted=False"):
            with self.subTest(path.stem):
                want = header(path)
                made, took = self.answer(path, "Admitted=false")
                conditions = {c["type"]: c for c in made.get("status", {}).get("conditions", [])}
                self.assertIn("Admitted", conditions)
                admitted = conditions["Admitted"]
                self.assertEqual(admitted["status"], "False", admitted)
                self.assertEqual(admitted["reason"], want["reason"], admitted)
                self.assertIn(want["field"], admitted["message"])
                self.assertIn(want["says"], admitted["message"])
                times.append(took)
                self.assertEqual(get("pods", "-l", f"trainyard.dev/job-name={path.stem}")["items"], [])
        # One slow process start on a busy machine is no slow operator.
        self.assertLess(statistics.median(times), 1 + overhead, times)
        self.assertLess(max(times), 3 + overhead, times)

    def test_what_is_supported_in_part_is_admitted_and_named(self):
        for path in expecting(PARTLY, "accepted"):
            with self.subTest(path.stem):
                made, _ = self.answer(path, "Admitted=true")
                conditions = made.get("status", {}).get("conditions", [])
                self.assertIn(("Admitted", "True"), [(c["type"], c["status"]) for c in conditions])
                self.assertTrue(any(header(path)["field"] in c["message"] for c in conditions), conditions)


class Descriptions(unittest.TestCase):
    def test_every_field_is_described_in_sentences(self):
        count = 0
        for kind, schema in schemas().items():
            for path, field in fields(schema, kind.lower()):
                with self.subTest(path):
                    text = field.get("description", "").strip()
                    self.assertTrue(text, "no description")
                    self.assertTrue(text.endswith("."), f"not a sentence: {text}")
                    count += 1
        self.assertGreater(count, 250)

    def test_kubectl_explain_finds_every_field(self):
        for kind, schema in schemas().items():
            objects = {path for path, field in fields(schema, kind.lower()) if "properties" in field
                       or "properties" in field.get("items", {})}
            for path in sorted(objects | {kind.lower()}):
                with self.subTest(path):
                    text = explain(path)
                    self.assertIn("FIELDS:", text)
                    self.assertNotIn("<no description>", text)
        print("\n" + explain("trainingjob.spec.elastic"), file=sys.stderr)


class Defaults(unittest.TestCase):
    def test_training_job(self):
        rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
        made = job("defaults", elastic=ELASTIC, checkpoint={}, plan={"model": {}}, failure={"rules": [rule]})
        del made["spec"]["managedBy"]
        del made["spec"]["roles"][0]["replicas"]
        spec = dry_run(made)["spec"]
        self.assertEqual(spec["roles"][0]["replicas"], 1)
        del spec["roles"]
        self.assertEqual(spec, {
            "framework": "PyTorch", "managedBy": "trainyard.dev/operator", "queue": "default", "preemptible": True,
            "elastic": ELASTIC, "checkpoint": {"mode": "Signal", "restartSeconds": 60},
            "scheduling": {"timeoutSeconds": 0}, "plan": {"mode": "Off", "model": {}},
            "run": {"suspend": False, "cleanPodPolicy": "Running"},
            "success": {"operator": "All"},
            "failure": {"restartScope": "Gang", "rules": [rule]},
            "health": {"preflight": False, "stallSeconds": 0}})

    def test_queue(self):
        self.assertEqual(dry_run(queue("defaults"))["spec"], {
            "weight": 1, "preemption": {"reclaim": True, "withinQueue": "LowerPriority"}})


class Status(unittest.TestCase):
    def test_every_field_can_be_written_and_read_back(self):
        schema = schemas()["TrainingJob"]["properties"]["status"]
        want = sample(schema)
        apply(job("every-field"))
        done = patch("every-field", "merge", {"status": want}, "--subresource=status")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("unknown field", done.stderr)
        self.assertEqual(get("tj", "every-field")["status"], want)

    def test_spec_and_status_are_written_separately(self):
        apply(job("doors"))
        patch("doors", "merge", {"status": {"phase": "Running"}})
        patch("doors", "merge", {"spec": {"preemptible": False}}, "--subresource=status")
        made = get("tj", "doors")
        self.assertNotIn("status", made)
        self.assertTrue(made["spec"]["preemptible"])

    def test_columns(self):
        apply(job("columns", queue="vision"))
        status = {"phase": "Queued", "queue": "vision", "ready": "0/4", "gpus": 32,
                  "pending": {"reason": "WaitingForCapacity", "message": "needs 4 nodes x 8 GPUs"}}
        done = patch("columns", "merge", {"status": status}, "--subresource=status")
        self.assertEqual(done.returncode, 0, done.stderr)
        head, row = ok("get", "tj", "columns").splitlines()
        self.assertEqual(head.split(), "NAME PHASE QUEUE READY GPUS WHY DONE AGE".split())
        self.assertEqual(row.split()[:6], "columns Queued vision 0/4 32 WaitingForCapacity".split())
        head, row = ok("get", "tj", "columns", "-o", "wide").splitlines()
        self.assertEqual(head.split()[-1], "MESSAGE")
        self.assertTrue(row.rstrip().endswith("needs 4 nodes x 8 GPUs"), row)

    def test_queue_columns(self):
        name = NAMESPACE
        apply(queue(name, parent="all", weight=3, guaranteed={"nvidia.com/gpu": 32}))
        self.addCleanup(kubectl, "delete", "tyq", name)
        head, row = ok("get", "tyq", name).splitlines()
        columns = "NAME PARENT WEIGHT GUARANTEED LIMIT USED SHARE‰ FAIR‰ WAITING PLACED READY AGE"
        self.assertEqual(head.split(), columns.split())
        self.assertEqual(row.split()[:4], [name, "all", "3", "32"])

    def test_names(self):
        apply(job("names"))
        for word in ("trainingjobs", "trainingjob", "tj", "trainyard"):
            self.assertIn("trainingjob.trainyard.dev/names", ok("get", word, "-o", "name"))


class Scale(unittest.TestCase):
    def test_within_the_range(self):
        apply(job("scaled", elastic=ELASTIC))
        ok("scale", "tj/scaled", "--replicas=6")
        self.assertEqual(get("tj", "scaled")["spec"]["elastic"]["replicas"], 6)
        patch("scaled", "merge", {"status": {"replicas": 4, "selector": "trainyard.dev/job-name=scaled"}},
              "--subresource=status")
        scale = json.loads(ok("get", "--raw", "/apis/trainyard.dev/v1alpha1/namespaces/"
                              f"{NAMESPACE}/trainingjobs/scaled/scale"))
        self.assertEqual(scale["spec"], {"replicas": 6})
        self.assertEqual(scale["status"], {"replicas": 4, "selector": "trainyard.dev/job-name=scaled"})

    def test_outside_the_range(self):
        apply(job("bounded", elastic=ELASTIC))
        for replicas, bound in ((9, "spec.elastic.maxReplicas"), (1, "spec.elastic.minReplicas")):
            done = kubectl("scale", "tj/bounded", f"--replicas={replicas}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("spec.elastic.replicas", done.stderr)
            self.assertIn(bound, done.stderr)

    def test_a_rigid_job(self):
        apply(job("rigid"))
        done = kubectl("scale", "tj/rigid", "--replicas=2")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("spec.elastic", done.stderr)
        self.assertNotIn("elastic", get("tj", "rigid")["spec"])


class Examples(unittest.TestCase):
    def test_applied_twice_changes_nothing(self):
        script = script_of(ROOT / "examples")
        for path in sorted((ROOT / "examples").glob("[0-9]*.yaml")):
            for thing in documents(path):
                if thing["kind"] == "TrainingJob":
                    with self.subTest(path.stem):
                        self.assertIn(script[thing["metadata"]["name"]]["ends"], ("Succeeded", "Failed"))
                        self.once_more(thing)
                else:
                    ok("apply", "--server-side", "--dry-run=server", "-f", "-", input=json.dumps(thing))

    def once_more(self, thing):
        thing["spec"]["managedBy"] = UNMANAGED
        thing["metadata"].pop("namespace", None)
        name = thing["metadata"]["name"]
        apply(thing)
        first = get("tj", name)["metadata"]
        apply(thing)
        second = get("tj", name)["metadata"]
        self.assertEqual(first["resourceVersion"], second["resourceVersion"])
        self.assertEqual(second["generation"], 1)


class Changes(unittest.TestCase):
    ROLE = "/spec/roles/0"
    TEMPLATE = ROLE + "/template"
    EXTRA = {"name": "evaluator", "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
    # the change, the field that the answer names, and its message
    WHILE_RUNNING = [
        ({"op": "replace", "path": "/spec/queue", "value": "b"}, "spec.queue", "suspended"),
        ({"op": "add", "path": "/spec/roles/-", "value": EXTRA}, "spec.roles", "suspended"),
        ({"op": "replace", "path": ROLE + "/replicas", "value": 3}, "spec.roles", "kubectl scale"),
        ({"op": "replace", "path": TEMPLATE + "/spec/containers/0/image", "value": "b"},
         "spec.roles", "template"),
        ({"op": "replace", "path": TEMPLATE + "/metadata/labels/team", "value": "b"},
         "spec.roles", "template"),
        ({"op": "move", "from": TEMPLATE + "/metadata/labels", "path": TEMPLATE + "/metadata/annotations"},
         "spec.roles", "template"),
        ({"op": "remove", "path": "/spec/elastic"}, "spec.elastic", "suspended"),
    ]
    NEVER = [
        ({"op": "replace", "path": "/spec/framework", "value": "MPI"}, "spec.framework", "cannot be changed"),
        ({"op": "replace", "path": "/spec/managedBy", "value": "e2e.trainyard.dev/other"},
         "spec.managedBy", "cannot be changed"),
    ]
    ANY_TIME = [
        {"op": "replace", "path": "/spec/preemptible", "value": False},
        {"op": "add", "path": "/spec/priorityClassName", "value": "high"},
        {"op": "add", "path": "/spec/failure/maxRestarts", "value": 7},
        {"op": "add", "path": "/spec/checkpoint", "value": {"mode": "Signal", "everySeconds": 600}},
        {"op": "replace", "path": "/spec/elastic/replicas", "value": 5},
        {"op": "replace", "path": "/spec/elastic/maxReplicas", "value": 16},
    ]

    def refuse(self, name, changes):
        for change, field, says in changes:
            with self.subTest(f"{change['op']} {change['path']}"):
                done = patch(name, "json", [change], "--dry-run=server")
                self.assertNotEqual(done.returncode, 0, "accepted")
                self.assertIn(f"{field}: Forbidden:", done.stderr)
                self.assertIn(says, done.stderr)

    def allow(self, name, changes):
        for change in changes:
            with self.subTest(f"{change['op']} {change['path']}"):
                done = patch(name, "json", [change], "--dry-run=server")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_while_not_suspended(self):
        apply(job("fixed", elastic=ELASTIC))
        self.refuse("fixed", self.WHILE_RUNNING + self.NEVER)
        self.allow("fixed", self.ANY_TIME)

    def test_suspending_and_changing_are_two_steps(self):
        apply(job("twosteps"))
        done = patch("twosteps", "merge", {"spec": {"queue": "b", "run": {"suspend": True}}})
        self.assertIn("spec.queue: Forbidden:", done.stderr)

    def test_while_suspended(self):
        apply(job("loose", elastic=ELASTIC, run={"suspend": True}))
        self.allow("loose", [change for change, _, _ in self.WHILE_RUNNING] + self.ANY_TIME)
        self.refuse("loose", self.NEVER)

    def test_the_elastic_role_stays(self):
        two = [{"name": n, "template": self.EXTRA["template"]} for n in ("worker", "other")]
        apply(job("role", roles=two, elastic=ELASTIC))
        change = {"op": "replace", "path": "/spec/elastic/role", "value": "other"}
        self.refuse("role", [(change, "spec.elastic.role", "cannot be changed")])

    def test_two_managers_may_own_two_roles(self):
        first = job("shared", run={"suspend": True})
        apply(first, "one")
        second = {**first, "spec": {"framework": "PyTorch", "roles": [self.EXTRA]}}
        apply(second, "two")
        names = [role["name"] for role in get("tj", "shared")["spec"]["roles"]]
        self.assertEqual(names, ["worker", "evaluator"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
