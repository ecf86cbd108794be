"""A tenant who may have jobs simulated in its namespace posts the worst bodies that the console reads: 2 MB, with as many
items of each kind as fit. Such a body could use up the leader's memory, or keep it busy for a minute.

    e2e/run abuse_console
"""
import json
import time

import support
import test_console
from abuse import MOST_MB
from lib import processes
from support import GPU, given, job, kubectl

CLUSTER = {"nodes": 4}
LARGEST = 2 << 20
ONE = {"containers": [{"name": "a", "resources": {"limits": {GPU: 1}}}]}
NONE = {"containers": [{"name": "a"}]}
EMPTY_KEY = {"labelSelector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]},
             "topologyKey": "kubernetes.io/hostname"}
HUGE = "9000000000000000"


def apart(terms):
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [EMPTY_KEY] * terms}}}


def role(name, template=None, replicas=1):
    return {"name": name, "replicas": replicas, "template": {"spec": template or ONE}}


def names(count):
    return (f"r{number}" for number in range(count))


def bodies(namespace):
    """{kind of excess: items}"""
    def tried(roles, pods=None, count=1, **spec):
        items = []
        for number in range(count):
            body = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingJob",
                    "metadata": {"namespace": namespace, "name": f"x{number}"},
                    "spec": {"framework": "Custom", "roles": roles, **spec}}
            shaped = {name: {"metadata": {"name": "p", "namespace": namespace}, "spec": pod} for name, pod in (pods or {}).items()}
            items.append({"job": body, **({"pods": shaped} if shaped else {})})
        return items

    def shaped(**spec):
        return tried([role("a", replicas=4)], {"a": {**ONE, **spec}})

    node_terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [f"n{i}"]}]}
                  for i in range(14_000)]
    model = {"parameters": 10 ** 14, "flopsPerSample": 10 ** 17, "batchPerWorker": 7}
    planned = [{"name": "worker", "template": {"spec": NONE}}, {"name": "ps", "template": {"spec": NONE}}]
    return {
        "roles": tried([role(name, NONE) for name in names(25_000)]),
        "members of a role": tried([role(name, NONE, 10_000) for name in names(24)], count=16),
        "names of roles that must succeed": tried([role("a")], success={"roles": ["a"] * 180_000}),
        "levels": tried([role("a")], locality={"levels": [{"level": name} for name in names(80_000)]}),
        "speeds": tried([role("a")], elastic={"role": "a", "replicas": 1, "minReplicas": 1, "maxReplicas": 10_000, "speeds": [
            {"replicas": i + 1, "samplesPerSecond": i + 1} for i in range(10_000)]}),
        "members apart": tried([role("a", {**ONE, **apart(8_000)}), *(role(name, NONE) for name in names(12_000))]),
        "members apart, a few thousand": tried([role("a", {**ONE, **apart(2_000)}), *(role(name, NONE) for name in names(2_000))]),
        "terms of an admitted pod": tried([role("a")], {"a": {**ONE, **apart(15_000)}}),
        "terms of a node affinity": shaped(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": node_terms}}}),
        "tolerations": shaped(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(50_000)]),
        "resources": shaped(containers=[{"name": "a", "resources": {"limits": {f"x.io/r{i}": 1 for i in range(90_000)}}}]),
        "volumes": shaped(volumes=[{"persistentVolumeClaim": {"claimName": f"c{i}"}} for i in range(35_000)]),
        "admitted pods": tried([role(name, NONE) for name in names(8_000)],
                               {name: {"containers": [{"name": "a", "resources": {"limits": {f"x.io/{name}": 1}}}]}
                                for name in names(8_000)}),
        "GPUs": tried([role("a", replicas=10_000), role("b", replicas=10_000)],
                      {name: {"containers": [{"name": "a", "resources": {"limits": {GPU: HUGE, "cpu": HUGE, "memory": HUGE}}}]}
                       for name in "ab"}),
        "less than no GPUs": tried([role("a", replicas=10_000)],
                                   {"a": {"containers": [{"name": "a", "resources": {"limits": {GPU: "-5", "cpu": "-1"}}}]}}),
        "letters of a queue": tried([role("a")], queue="q\n\u0000\u001b[31m" + "A" * 1_000_000),
        "measurements": tried(planned, count=16, plan={"mode": "Auto", "maxGPUs": 8, "model": {**model, "measurements": [
            {"workersPerNode": [1, 2, 3, 4] * 16, "batchPerWorker": 7, "stepMicroseconds": 1000 + i, "servers": i % 9}
            for i in range(64)]}}),
    }


def setUpModule():
    test_console.setUpModule()


class Bodies(test_console.Account):
    def test_each_is_answered_and_the_console_continues(self):
        kubectl("create", "role", "user", "-n", self.namespace, "--verb=get,create", "--resource=trainingjobs.trainyard.dev,pods")
        kubectl("create", "rolebinding", "user", "-n", self.namespace, "--role=user",
                f"--serviceaccount={self.namespace}:tenant")
        tenant = self.account(self.namespace, "tenant")
        texts = {name: json.dumps({"items": items}, separators=(",", ":")) for name, items in bodies(self.namespace).items()}
        opening = '{"items":[{"job":'
        texts["brackets"] = opening + "[" * (LARGEST - len(opening))
        texts["braces"] = opening + '{"a":' * ((LARGEST - len(opening)) // 5)
        pid = given().pid(test_console.CONSOLE)
        for name, text in texts.items():
            with self.subTest(name):
                self.assertLessEqual(len(text), LARGEST)
                begun = time.monotonic()
                status, _, answer = test_console.get("/api/simulate", tenant, "POST", text)
                took = time.monotonic() - begun
                # Printed, not checked.
                print(f"{name}: {len(text)} bytes, {status} after {took:.2f} s, {len(answer)} bytes")
                self.assertIn(status, (200, 400))
                self.assertLess(len(answer), LARGEST)
        self.assertEqual(pid, given().pid(test_console.CONSOLE))
        self.assertTrue(given().alive(test_console.CONSOLE))
        self.assertLess(processes.peak_mb(pid), MOST_MB)
        # It still answers what can be asked.
        ask = json.dumps({"items": [{"job": {**job("small", replicas=1), "metadata": {"namespace": self.namespace, "name": "small"}}}]})
        status, _, answer = test_console.get("/api/simulate", tenant, "POST", ask)
        self.assertEqual(200, status, answer)
