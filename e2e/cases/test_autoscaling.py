"""Nodes that do not exist yet are requested, and the gang starts on them. The test acts as the autoscaler: it sets the
conditions of a request and adds the nodes.
"""
import datetime

import support
from autoscaling_case import AutoscalingCase
from support import GPU, condition, core, custom, given, job, kubectl, wait_phase

from lib import kwok

CLUSTER = {"nodes": 2}  # of 8 GPUs
NODES = CLUSTER["nodes"]
GROUP, PLURAL = "autoscaling.x-k8s.io", "provisioningrequests"
# As much of Cluster Autoscaler's definition as is used here.
NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "maxLength": 253}
POD_SET = {"type": "object", "required": ["podTemplateRef", "count"], "properties": {
    "count": {"type": "integer", "format": "int32", "minimum": 1},
    "podTemplateRef": {"type": "object", "required": ["name"], "properties": {"name": NAME}}}}
SPEC = {"type": "object", "required": ["podSets", "provisioningClassName"], "properties": {
    "podSets": {"type": "array", "minItems": 1, "maxItems": 32, "items": POD_SET,
                "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
    "provisioningClassName": NAME,
    "parameters": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 255}}}}
CONDITION = {"type": "object", "required": ["type", "status", "reason", "message", "lastTransitionTime"], "properties": {
    "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"}, "message": {"type": "string"},
    "lastTransitionTime": {"type": "string", "format": "date-time"}, "observedGeneration": {"type": "integer"}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}",
                 "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
    "spec": {"group": GROUP, "scope": "Namespaced",
             "names": {"kind": "ProvisioningRequest", "plural": PLURAL, "singular": "provisioningrequest"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
                               "spec": SPEC,
                               "status": {"type": "object", "properties": {
                                   "conditions": {"type": "array", "items": CONDITION}}}}}}}]}}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Autoscaling(AutoscalingCase):
    def setUp(self):
        super().setUp()
        self.added = 0
        self.addCleanup(self.remove_nodes)

    def define(self):
        given().api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        self.addCleanup(kubectl, "delete", "crd", f"{PLURAL}.{GROUP}")
        kubectl("wait", "--for=condition=Established", f"crd/{PLURAL}.{GROUP}", "--timeout=30s")

    def add_nodes(self, count):
        kwok.create_nodes(given().api, range(NODES, NODES + count), kwok.Shape())
        self.added = count

    def remove_nodes(self):
        for index in range(NODES, NODES + self.added):
            kubectl("delete", "node", kwok.node_name(index))

    def requests(self):
        return support.Recorder(custom().list_namespaced_custom_object, GROUP, "v1", self.namespace, PLURAL)

    def set_condition(self, name, kind, message):
        said = {"type": kind, "status": "True", "reason": kind, "message": message,
                "lastTransitionTime": now()}
        custom().patch_namespaced_custom_object_status(GROUP, "v1", self.namespace, PLURAL, name,
                                                       {"status": {"conditions": [said]}})

    def test_a_gang_starts_on_nodes_that_an_autoscaler_makes_for_it(self):
        self.define()
        self.ask_with("ProvisioningRequest")
        support.create_job(self.namespace, job("large", replicas=4))
        with support.watch_jobs(self.namespace) as jobs, self.requests() as requests:
            (_, name), made = requests.wait(lambda all_: next(iter(all_.items()), None), "a request is made")
            self.assertEqual("best-effort-atomic-scale-up.autoscaling.x-k8s.io", made["spec"]["provisioningClassName"])
            pods, = made["spec"]["podSets"]
            self.assertEqual(4, pods["count"])
            template = core().read_namespaced_pod_template(pods["podTemplateRef"]["name"], self.namespace)
            self.assertEqual({GPU: "8"}, template.template.spec.containers[0].resources.limits)
            self.await_report(jobs, "large", "Asked")
            self.set_condition(name, "Accepted", "two nodes are on their way")
            self.assertIn(name, self.await_report(jobs, "large", "Accepted")["message"])
            self.assertEqual([], core().list_namespaced_pod(self.namespace).items)
            self.set_condition(name, "Provisioned", "two nodes")
            self.await_report(jobs, "large", "Provisioned")
            self.add_nodes(2)
            wait_phase(jobs, self.namespace, "large", "Running")
            self.await_report(jobs, "large", "Placed")
            requests.wait(lambda all_: not all_, "the request is taken back")
        support.await_value(lambda: core().list_namespaced_pod_template(self.namespace).items, lambda left: not left,
                            "its template is gone")
        reasons = {each.reason for each in core().list_namespaced_event(self.namespace).items}
        self.assertLessEqual({"NodesRequested", "NodesProvisioned"}, reasons)

    def test_a_failed_request_is_reported_and_made_again(self):
        self.define()
        self.ask_with("ProvisioningRequest")
        support.create_job(self.namespace, job("large", replicas=4))
        with support.watch_jobs(self.namespace) as jobs, self.requests() as requests:
            (_, name), _ = requests.wait(lambda all_: next(iter(all_.items()), None), "a request is made")
            self.set_condition(name, "Failed", "out of stock")
            self.assertIn("out of stock", self.await_report(jobs, "large", "Failed")["message"])
            requests.wait(lambda all_: any("-nodes-2-" in key[1] for key in all_), "a second request is made")
            self.assertNotIn((self.namespace, name), requests.objects)
            support.delete_job(self.namespace, "large")
            requests.wait(lambda all_: not all_, "the request is deleted with the job")

    def test_placeholders_stand_for_members_until_there_are_nodes(self):
        self.ask_with("PlaceholderPods")
        support.create_job(self.namespace, job("large", replicas=4))
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            def marked(all_):
                waiting = [each for each in all_.values() if (condition(each, "PodScheduled") or {}).get("reason") == "Unschedulable"]
                return len(waiting) == 4 and waiting
            for each in pods.wait(marked, "four pods wait for nodes"):
                self.assertIn("trainyard.dev/nodes-for", each["metadata"]["labels"])
                self.assertNotIn("nodeName", each["spec"])
            self.await_report(jobs, "large", "Asked")
            self.add_nodes(2)
            wait_phase(jobs, self.namespace, "large", "Running")
            pods.wait(lambda all_: len(all_) == 4 and all("-nodes-" not in key[1] for key in all_),
                      "only members are left")
            bound = [item for _, item in pods.events if "-nodes-" in item["metadata"]["name"] and support.node_of(item)]
            self.assertEqual([], bound)

