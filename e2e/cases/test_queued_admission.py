"""Kubernetes 1.36, which has MutatingAdmissionPolicies: the label of the queue is enough, the chart's policies add the rest."""
import queued_admission
from gang_case import QUEUE
from queued_admission import KINDS, AdmissionCase, deployment, job_spec, pod
from support import given, kubectl

CLUSTER = {"nodes": 4, "workloads": True}  # of 8 GPUs


def setUpModule():
    found = queued_admission.install()
    names = {"trainyard-workloads", "trainyard-run-policies", "trainyard-queued-pods"}
    assert found["MutatingAdmissionPolicy"] == found["ValidatingAdmissionPolicy"] == names, found


class Added(AdmissionCase):
    def test_each_kind_is_suspended(self):
        for kind in KINDS:
            for value in (None, False, True):
                with self.subTest(kind, suspend=value):
                    self.assertIs(True, self.suspend_of(self.body(kind, value)))

    def test_no_other_object_is(self):
        """Neither one without a queue, nor one that a handled object controls: that one is suspended."""
        owner = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "t", "uid": "u", "controller": True}
        for kind in KINDS:
            with self.subTest(kind):
                self.assertIn(self.suspend_of(self.body(kind, False, queue=None)), (False, {}))
                self.assertIn(self.suspend_of(self.body(kind, False, ownerReferences=[owner])), (False, {}))

    def test_pods_get_the_gate(self):
        def gates(body):
            found = self.written({"apiVersion": "v1", "kind": "Pod", **body})
            return [each["name"] for each in found["spec"].get("schedulingGates", [])]
        place = "trainyard.dev/place"
        self.assertEqual([place], gates(pod("x")))
        self.assertEqual([place], gates(pod("x", labels={"trainyard.dev/gang": "g"})))
        self.assertEqual([place], gates(pod("x", gated=True)))
        self.assertEqual({place, "example.com/other"}, set(gates(pod("x", gates=["example.com/other"]))))
        self.assertEqual([], gates(pod("x", labels={"app": "x"})))

    def test_a_job_with_the_label_alone(self):
        """The operator marks its template, so that its pods arrive gated."""
        body = {**self.body("Job"), "spec": job_spec(2)}
        body["metadata"]["name"] = "train"
        self.life("train.job", body)
        template = given().json("get", "job", "train", "-n", self.namespace)["spec"]["template"]
        self.assertEqual([{"name": "trainyard.dev/place"}], template["spec"]["schedulingGates"])
        self.assertEqual("train.job", template["metadata"]["labels"]["trainyard.dev/gang"])

    def test_pods_of_a_deployment_with_the_labels_alone(self):
        self.life("serve.pods", deployment())

    def test_the_label_comes_later(self):
        """A Job that was created without a queue runs; the operator stops it once it names one."""
        kubectl("create", "-n", self.namespace, "-f", "-", input=queued_admission.json.dumps(
            {**self.body("Job", queue=None), "metadata": {"name": "train"}}))
        kubectl("label", "job", "train", "-n", self.namespace, f"{QUEUE}=default")
        with queued_admission.support.watch_gangs(self.namespace) as gangs:
            self.gang(gangs, "train.job", "Running")


del AdmissionCase
