"""An API server without MutatingAdmissionPolicies, as Kubernetes 1.30 to 1.35 are: it refuses what lacks something, and
kubectl's error names it. Users write it, and the rest is the same.
"""
import support
import queued_admission
from queued_admission import KINDS, NO_GATE, AdmissionCase, deployment, job_spec, pod
from support import kubectl

CLUSTER = {"nodes": 4, "workloads": True, "emulates": "1.33"}  # of 8 GPUs


def setUpModule():
    assert "mutatingadmissionpolicies" not in kubectl("api-resources", "--api-group=admissionregistration.k8s.io")
    found = queued_admission.install()
    assert set(found) == {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}, found


class Refused(AdmissionCase):
    def test_each_kind_names_its_field(self):
        for kind, (_, path) in KINDS.items():
            for value in (None, False):
                with self.subTest(kind, suspend=value):
                    self.refused(f"{path}.suspend must be true", self.body(kind, value))

    def test_each_kind_that_is_suspended_is_accepted(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.assertIs(True, self.suspend_of(self.body(kind, True)))

    def test_no_other_object_is_refused(self):
        owner = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "t", "uid": "u", "controller": True}
        for kind in KINDS:
            with self.subTest(kind):
                self.written(self.body(kind, queue=None))
                self.written(self.body(kind, ownerReferences=[owner]))

    def test_pods_without_the_gate(self):
        for labels in ({"trainyard.dev/queue": "default"}, {"trainyard.dev/gang": "g"}):
            self.refused(NO_GATE, {"apiVersion": "v1", "kind": "Pod", **pod("x", labels=labels)})
        self.written({"apiVersion": "v1", "kind": "Pod", **pod("x", gated=True)})

    def test_pods_of_a_deployment_without_the_gate(self):
        """Its ReplicaSet reports it."""
        self.create(deployment())
        support.await_value(lambda: kubectl("get", "events", "-n", self.namespace, "--field-selector=reason=FailedCreate"),
                            lambda text: NO_GATE in text, "an Event of the ReplicaSet")

    def test_a_job(self):
        """Its template can be changed before its first start only: it is marked once."""
        body = {**self.body("Job"), "spec": job_spec(2, suspend=True)}
        body["metadata"]["name"] = "train"
        self.life("train.job", body)

    def test_pods_of_a_deployment(self):
        self.life("serve.pods", deployment(gated=True))


del AdmissionCase
