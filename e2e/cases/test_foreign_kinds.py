"""What the chart makes for cert-manager and Prometheus' operator is accepted by their own definitions. Run only by name: it
fetches their Go modules for the definitions in them.
"""
import json
import unittest
from pathlib import Path

import yaml

from support import given, kubectl

from lib import helm, tools

CLUSTER = {"nodes": 0}
RUNS = "whole"
DEFINITIONS = {
    "github.com/cert-manager/cert-manager@v1.21.2": "deploy/crds",
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": "example/prometheus-operator-crd",
}
VALUES = {
    "cert-manager with its own issuer": {"certificates": {"source": "certManager"}},
    "monitored": {"metrics": {"serviceMonitor": {"enabled": True}, "rules": {"enabled": True}}},
    "monitored, by HTTPS": {"metrics": {"secure": True, "serviceMonitor": {
        "enabled": True, "tokenSecret": {"name": "prometheus", "key": "token"}}, "rules": {"enabled": True}},
        "agent": {"enabled": True}},
}


class ForeignKinds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for module, folder in DEFINITIONS.items():
            for file in sorted(Path(tools.fetched(module) / folder).glob("*.yaml")):
                kubectl("apply", "--server-side", "-f", str(file))
        kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")

    def test_their_definitions_accept_what_the_chart_makes(self):
        for name, values in VALUES.items():
            with self.subTest(name):
                objects = [item for item in yaml.safe_load_all(helm.template(given().tools["helm"], values)) if item]
                theirs = [item for item in objects if "cert-manager.io" in item["apiVersion"] or "monitoring" in item["apiVersion"]]
                self.assertTrue(theirs)
                for item in theirs:
                    item["metadata"]["namespace"] = "default"
                text = json.dumps({"apiVersion": "v1", "kind": "List", "items": theirs})
                said = kubectl("apply", "--dry-run=server", "--validate=strict", "--server-side", "-f", "-", input=text)
                print(said)
                self.assertEqual(len(theirs), len(said.splitlines()), said)
