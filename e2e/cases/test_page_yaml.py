"""Every YAML block of docs/ and the README is checked by its reader: objects and parts of them by a real API server
(strictly, nothing is stored), the policy's sections by the decoder of the programs, workloads whose CRDs are not here by
`trainyard adopt`.
"""
import re
import tempfile
import textwrap
import unittest
from pathlib import Path

import support
from lib.errors import E2EError
from support import ROOT, kubectl

CLUSTER = {"nodes": 1}
KIND = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: fragment}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: fragment}\nspec:\n"
ROLES = ("  roles:\n  - name: worker\n    replicas: 2\n    template:\n      spec:\n        containers:\n"
         "        - {name: main, image: registry.example.com/bert:1}\n")
POLICY = ("failures", "preflight", "shapeCosts", "policy")
# Read by programs that are not here: Prometheus, by Argo CD and Flux, for which test_gitops.py stands in, and by Kueue, for which
# test_multikueue.py creates them.
OTHERS = ("- job_name: ", "# Argo CD", "# Flux", "# Kueue's configuration", "apiVersion: kueue.x-k8s.io/")
FOREIGN = ("apiVersion: jobset.x-k8s.io/", "apiVersion: kubeflow.org/", "apiVersion: ray.io/")


def blocks():
    """(page, text) of each."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for text in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
            yield page.name, textwrap.dedent(text)


def pod_spec(text):
    """A PodSpec of the part of one that a page shows."""
    if text.startswith("template:"):
        text = textwrap.dedent(text.split("spec:\n", 1)[1])
    if text.startswith("env:"):
        text = "containers:\n- name: main\n" + textwrap.indent(text, "  ")
    if "containers:" not in text:
        text += "containers:\n- name: main\n"
    if "image:" not in text:
        text = re.sub(r"^(\s*)- name: (main|train)$", r"\1- name: \2\n\1  image: registry.example.com/bert:1", text, count=1, flags=re.M)
    return text


class PageYaml(unittest.TestCase):
    def refused(self, text):
        try:
            kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", input=text)
        except E2EError as error:
            return str(error)
        return ""

    def read_by_programs(self, text):
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder) / "policy.yaml"
            policy.write_text(text)
            done = support.run([support.program("trainyard"), "classify", "--policy-file", policy,
                                ROOT / "tests/failures/dev/Aborted.json"])
            return done.stderr if done.returncode else ""

    def not_adopted(self, text):
        """Says what a workload of a page lacks to be placed as a gang."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "workload.yaml"
            file.write_text(text)
            done = support.run([support.program("trainyard"), "adopt", "-f", file])
            return "" if done.returncode == 0 and "added" not in done.stderr else done.stderr

    def check(self, text):
        if text.startswith(FOREIGN):
            return self.not_adopted(text)
        first = re.sub(r"^(#.*\n)+", "", text).split(":", 1)[0].strip()
        if first == "apiVersion":
            return self.refused(re.sub(r"^  namespace: .*\n", "", text, flags=re.M))
        if first == "spec":
            framework = "" if "\n  framework:" in text else "  framework: PyTorch\n"
            return self.refused(KIND + text + framework + ROLES)
        if first == "policy":
            return self.read_by_programs(textwrap.dedent(text.split("\n", 1)[1]))
        if first in POLICY:
            return self.read_by_programs(text)
        return self.refused(POD + textwrap.indent(pod_spec(text), "  "))

    def test_each(self):
        read = []
        for page, text in blocks():
            if text.startswith(OTHERS):
                continue
            with self.subTest(page=page, block=text):
                self.assertEqual(self.check(text), "")
                read.append(page)
        self.assertGreaterEqual(len(read), 14)

    def test_a_misspelled_key_is_refused(self):
        """Checks the check itself."""
        self.assertIn("nodeSelecter", self.refused(POD + "  nodeSelecter: {a: b}\n  containers: [{name: a, image: b}]\n"))
        self.assertIn("wieght", self.refused("apiVersion: trainyard.dev/v1alpha1\nkind: Queue\nmetadata: {name: q}\nspec: {wieght: 2}\n"))
        self.assertIn("failurs", self.read_by_programs("failurs: {}\n"))


if __name__ == "__main__":
    unittest.main()
