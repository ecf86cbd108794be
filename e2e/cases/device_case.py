"""Devices of DRA without a driver: slices, classes and templates written by hand, which the real kube-scheduler allocates."""
import json

import support
from gang_case import GangCase
from support import kubectl

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def apply(body):
    kubectl("apply", "-f", "-", input=json.dumps(body))


def device_class(name, expression=f'device.driver == "{DRIVER}"', extended=None):
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    if extended:
        spec["extendedResourceName"] = extended
    apply({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})


def device(name, memory="80Gi", **attributes):
    return {"name": name, "capacity": {"memory": {"value": memory}},
            "attributes": {key: {"string": value} for key, value in attributes.items()}}


def node_slice(node, devices, driver=DRIVER):
    apply({"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{node}-{driver}"},
           "spec": {"driver": driver, "nodeName": node, "devices": devices,
                    "pool": {"name": f"{node}-{driver}", "generation": 1, "resourceSliceCount": 1}}})


def memory(least):
    return f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{least}")) >= 0'


def claim_template(namespace, name, requests, **spec):
    """requests: (class, count, selector or None)."""
    listed = []
    for number, (kind, count, selector) in enumerate(requests):
        exactly = {"deviceClassName": kind, "count": count}
        if selector:
            exactly["selectors"] = [{"cel": {"expression": selector}}]
        listed.append({"name": f"r{number}", "exactly": exactly})
    apply({"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": namespace},
           "spec": {"spec": {"devices": {"requests": listed, **spec}}}})


class DeviceCase(GangCase):
    def template(self, name, *requests, **spec):
        claim_template(self.namespace, name, requests, **spec)

    def claiming(self, name, template, replicas, gpus=0, **spec):
        """A TrainingJob whose pods have a claim of this template each."""
        body = support.job(name, replicas=replicas, gpus=gpus or 8, **spec)
        pod = body["spec"]["roles"][0]["template"]["spec"]
        pod["resourceClaims"] = [{"name": "devices", "resourceClaimTemplateName": template}]
        resources = pod["containers"][0]["resources"]
        if not gpus:
            resources.pop("limits", None)
            resources["requests"] = {"cpu": "1"}
        resources["claims"] = [{"name": "devices"}]
        support.create_job(self.namespace, body)

    def foreign(self, name, template, node=None):
        spec = {"containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "devices"}]}}],
                "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": template}]}
        if node:
            spec["nodeSelector"] = {"kubernetes.io/hostname": node}
        kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}))
