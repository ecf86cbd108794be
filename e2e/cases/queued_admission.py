"""What the API server does to objects of other controllers that name a queue, with the chart's policies as helm renders them
for that cluster. Shared by test_queued_admission (Kubernetes 1.36) and test_queued_admission_before (older ones).
"""
import json

import support
import yaml
from gang_case import QUEUE, GangCase
from lib import helm
from lib.errors import E2EError
from support import given, kubectl

GROUP = "admissionregistration.k8s.io/v1"
# kind: (API version, object with the field `suspend`)
KINDS = {"Job": ("batch/v1", "spec"), "JobSet": ("jobset.x-k8s.io/v1alpha2", "spec"),
         "TrainJob": ("trainer.kubeflow.org/v1alpha1", "spec"), "MPIJob": ("kubeflow.org/v2beta1", "spec.runPolicy"),
         "PyTorchJob": ("kubeflow.org/v1", "spec.runPolicy"), "TFJob": ("kubeflow.org/v1", "spec.runPolicy"),
         "XGBoostJob": ("kubeflow.org/v1", "spec.runPolicy"), "PaddleJob": ("kubeflow.org/v1", "spec.runPolicy"),
         "JAXJob": ("kubeflow.org/v1", "spec.runPolicy"), "RayCluster": ("ray.io/v1", "spec"), "RayJob": ("ray.io/v1", "spec")}
NO_GATE = "needs spec.schedulingGates: [{name: trainyard.dev/place}]"


def definition(kind):
    """A CRD with what the policies look at."""
    version, _ = KINDS[kind]
    group, name = version.split("/")
    flag = {"suspend": {"type": "boolean"}}
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True,
            "properties": {**flag, "runPolicy": {"type": "object", "properties": flag}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{kind.lower()}s.{group}"}, "spec": {
                "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": f"{kind.lower()}s"},
                "versions": [{"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": spec}}}}]}}


def install():
    """Returns the rendered policies' {kind: names}, when the API server enforces them."""
    for kind in KINDS:
        if kind != "Job":
            kubectl("apply", "-f", "-", input=json.dumps(definition(kind)))
    kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    text = helm.template(given().tools["helm"], {"workloads": {"kinds": list(KINDS)}}, only=["admission-workloads"], cluster=given())
    kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=text)
    probe = pod("probe", gated=True)
    support.core().create_namespaced_pod("default", probe, dry_run="All")
    probe["spec"].pop("schedulingGates")
    support.await_value(lambda: enforced(probe), bool, "the policies are enforced")
    found = {}
    for item in yaml.safe_load_all(text):
        if item:
            found.setdefault(item["kind"], set()).add(item["metadata"]["name"])
    return found


def enforced(probe):
    """Whether a pod without the gate is refused, or gets it."""
    try:
        return "trainyard.dev/place" in kubectl("create", "--dry-run=server", "-n", "default", "-o", "json", "-f", "-",
                                                input=json.dumps({"apiVersion": "v1", "kind": "Pod", **probe}))
    except E2EError as error:
        return NO_GATE in str(error)


def pod(name, gated=False, gates=(), labels=None, gpus=8):
    body = support.pod(name, gpus)
    body["metadata"]["labels"] = labels or {QUEUE: "default"}
    names = [*gates, *(["trainyard.dev/place"] if gated else [])]
    if names:
        body["spec"]["schedulingGates"] = [{"name": each} for each in names]
    return body


def job_spec(pods=2, **suspend):
    spec = support.pod("x", 8)["spec"]
    return {**suspend, "completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
            "template": {"spec": {**spec, "restartPolicy": "Never"}}}


def deployment(gated=False):
    body = pod("x", gated=gated, labels={QUEUE: "default", "trainyard.dev/gang": "serve", "app": "serve"})
    template = {"metadata": {"labels": body["metadata"]["labels"], "annotations": {"trainyard.dev/gang-size": "2"}},
                "spec": body["spec"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "serve"},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "serve"}}, "template": template}}


class AdmissionCase(GangCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(kubectl, "delete", "jobs.batch,deployments", "--all", "-n", self.namespace, "--wait=false")

    def body(self, kind, suspend=None, queue="default", **metadata):
        """An object as its user writes it; suspend: the value of that field, if it has it."""
        version, path = KINDS[kind]
        value = {} if suspend is None else {"suspend": suspend}
        spec = {"runPolicy": value} if path != "spec" and value else value if path == "spec" else {}
        spec = job_spec(**value) if kind == "Job" else spec
        labels = {"labels": {QUEUE: queue}} if queue else {}
        return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", **labels, **metadata}, "spec": spec}

    def create(self, body, *options):
        return kubectl("create", "-n", self.namespace, *options, "-f", "-", input=json.dumps(body))

    def written(self, body):
        """As the API server would store it."""
        return json.loads(self.create(body, "--dry-run=server", "-o", "json"))

    def suspend_of(self, body):
        at = self.written(body)
        for name in (*KINDS[body["kind"]][1].split("."), "suspend"):
            at = at.get(name, {})
        return at

    def refused(self, words, body):
        with self.assertRaises(E2EError) as caught:
            self.create(body, "--dry-run=server")
        self.assertIn(words, str(caught.exception))

    def life(self, gang, body):
        """It starts whole, is preempted, and starts again."""
        with support.watch_gangs(self.namespace) as gangs, support.watch_jobs(self.namespace) as jobs:
            self.create(body)
            self.gang(gangs, gang, "Running")
            support.create_job(self.namespace, support.job("urgent", replicas=4, priorityClassName="e2e-urgent"))
            support.wait_phase(jobs, self.namespace, "urgent", "Running")
            self.gang(gangs, gang, "Queued")
            support.finish(self.namespace, "urgent")
            found = self.gang(gangs, gang, "Running")
            self.assertEqual(1, found["status"]["preemptions"]["count"])
