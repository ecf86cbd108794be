"""A job with spec.plan.mode Auto on the real control plane: its shape is chosen, written and run; `trainyard plan`."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from support import given, kubectl, members_now, wait_phase

CLUSTER = {"nodes": 8}
MODEL = {"parameters": 25557032, "largestTensorBytes": 9437184, "flopsPerSample": 24600000000, "batchPerWorker": 16384}


class Plan(support.Case):
    def trainyard(self, *args):
        done = subprocess.run([support.program("trainyard"), *args, "--kubeconfig", str(given().kubeconfig),
                               "-n", self.namespace], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_runs_as_planned(self):
        body = support.job("auto", replicas=1, gpus=1, plan={"mode": "Auto", "maxGPUs": 8, "model": MODEL})
        body["spec"]["framework"] = "TensorFlow"
        body["spec"]["success"] = {"roles": ["worker"]}
        body["spec"]["roles"].append({"name": "ps", "replicas": 1, "template": {
            "spec": {"containers": [{"name": "serve", "image": "train", "resources": {"requests": {"cpu": "1"}}}]}}})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "job.json"
            file.write_text(json.dumps(body))
            first = json.loads(self.trainyard("plan", "-f", str(file), "-o", "json"))["candidates"][0]
        with support.watch_jobs(self.namespace) as jobs:
            kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
            job = wait_phase(jobs, self.namespace, "auto", "Running")
            plan = job["status"]["plan"]
            chosen = {role["name"]: role["replicas"] for role in plan["roles"]}
            # The command and the operator are of one mind.
            self.assertEqual(chosen, {"worker": first["workers"], "ps": first["servers"]})
            self.assertEqual(plan["generation"], job["metadata"]["generation"])
            self.assertGreater(plan["predictedMilliSamplesPerSecond"], 0)
            mine = members_now(self.namespace, "auto")
            self.assertEqual(len([name for name in mine if "-worker-" in name]), chosen["worker"])
            self.assertEqual(len([name for name in mine if "-ps-" in name]), chosen["ps"])
            # The spec was not written.
            self.assertEqual([role["replicas"] for role in job["spec"]["roles"]], [1, 1])
            self.assertEqual(job["metadata"]["generation"], 1)
            self.assertIn("Planned: ", self.trainyard("explain", "auto"))

    def test_apply_writes_the_numbers(self):
        body = support.job("written", replicas=1, gpus=1,
                           plan={"maxGPUs": 4, "model": MODEL}, run={"suspend": True})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "job.json"
            file.write_text(json.dumps(body))
            first = json.loads(self.trainyard("plan", "-f", str(file), "-o", "json", "--apply"))["candidates"][0]
            job = given().json("get", "tj", "written", "-n", self.namespace)
            self.assertEqual(job["spec"]["roles"][0]["replicas"], first["workers"])
            # It never had other numbers.
            self.assertEqual(job["metadata"]["generation"], 1)
            # Into one that exists already.
            kubectl("patch", "tj", "written", "-n", self.namespace, "--type=json",
                    '-p=[{"op":"replace","path":"/spec/roles/0/replicas","value":9}]')
            self.assertIn("has the planned numbers now", self.trainyard("plan", "-f", str(file), "--apply"))
            job = given().json("get", "tj", "written", "-n", self.namespace)
            self.assertEqual(job["spec"]["roles"][0]["replicas"], first["workers"])


if __name__ == "__main__":
    unittest.main()
