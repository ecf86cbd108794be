"""A tenant whose objects other users read: by the command line and in a support bundle. Each docstring names the harm that
is prevented.

    e2e/run abuse_words
"""
import tarfile

import support
from support import JOBS, GROUP, VERSION, given, job, wait_phase
from tenants import Tenants, install_chart

CLUSTER = {"nodes": 2}
# At the bounds of the schema.
MODEL = {"parameters": 10**14, "bytesPerParameter": 64, "flopsPerSample": 10**18, "batchSize": 10**9, "layers": 10**6}
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"
# Marks of direction, separators of lines and paragraphs, controls.
MARKS = "\u202e\u2066\u200f\u2028\u2029\u0085\u009b"


def setUpModule():
    install_chart()


class Texts(Tenants):
    def trainyard(self, *args):
        done = support.run([support.program("trainyard"), *args, f"--kubeconfig={given().kubeconfig}"])
        return done.returncode, done.stdout + done.stderr

    def create(self, body):
        self.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, JOBS, body)

    def test_a_plan_that_cannot_be_read_back(self):
        """`trainyard status -A` could fail for all users as long as the job exists."""
        body = job("planned", replicas=1, gpus=1, plan={"mode": "Auto", "maxGPUs": 1, "model": MODEL})
        self.create(body)
        self.jobs.wait(lambda all_: all_.get((self.namespace, "planned"), {}).get("status", {}).get("conditions"), "it is processed")
        support.create_job(self.others, job("gang", replicas=1))
        wait_phase(self.jobs, self.others, "gang", "Running")
        code, text = self.trainyard("status", "-A")
        self.assertEqual(0, code, text)
        self.assertIn("gang", text)
        self.assertIn("planned", text)
        plan = support.get_job(self.namespace, "planned").get("status", {}).get("plan", {})
        self.assertGreaterEqual(plan.get("predictedStepMicroseconds", 0), 0)

    def test_a_key_in_a_support_bundle(self):
        """It could be left in annotations and arguments."""
        body = job("keyed", replicas=1, gpus=1, annotations={"note": KEY})
        template = body["spec"]["roles"][0]["template"]
        template["spec"]["containers"][0]["args"] = [KEY, "--key=" + KEY.replace("\n", "\\n")]
        body["metadata"]["annotations"] = {"mine": KEY}
        self.create(body)
        wait_phase(self.jobs, self.namespace, "keyed", "Running")
        file = given().dir / "bundle.tar"
        code, text = self.trainyard("support-bundle", f"--file={file}")
        self.assertEqual(0, code, text)
        with tarfile.open(file) as bundle:
            for member in bundle.getmembers():
                content = bundle.extractfile(member).read() if member.isfile() else b""
                self.assertNotIn(b"MIIEvQIBADANBgkqhkiG9w0", content, member.name)

    def test_marks_of_direction(self):
        """Conditions, and with them `explain`, `status` and `timeline`, could print them."""
        body = job("marked", replicas=1, gpus=1)
        body["spec"]["roles"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": f"a{MARKS}=b", "value": "x"}]
        self.create(body)
        self.not_admitted((self.namespace, "marked"))
        for args in (("explain", "marked", "-n", self.namespace), ("status", "-n", self.namespace), ("status", "-A"),
                     ("timeline", "marked", "-n", self.namespace)):
            with self.subTest(args):
                text = self.trainyard(*args)[1]
                self.assertEqual([], [hex(ord(each)) for each in text if each in MARKS])
