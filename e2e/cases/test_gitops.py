"""What docs/upgrade.md gives Argo CD and Flux to judge jobs by, as it stands there, on jobs of a real API server: the Lua in an
interpreter of that language, the CEL in the API server's own."""
import json
import re
import shutil
import subprocess
import textwrap
import unittest

import support
from lib.errors import E2EError
from support import EXIT_CODE, ROOT, job, kubectl, wait_phase

CLUSTER = {"nodes": 2}
PAGE = (ROOT / "docs/upgrade.md").read_text()
LUA = "lua5.4"
POLICY = "gitops-expressions"
# Of each job: the phase to wait for, what Argo CD makes of it, what Flux does.
JOBS = {"runs": ("Running", "Progressing", ""), "waits": ("Queued", "Progressing", ""), "rests": ("Suspended", "Suspended", ""),
        "ends": ("Succeeded", "Healthy", "current"), "fails": ("Failed", "Degraded", "failed")}


def lua(value):
    """A value of JSON as Lua writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(lua, value)) + "}"
    return "nil" if value is None else json.dumps(value, ensure_ascii=False)


def argo_health(item):
    """(status, message)"""
    script = textwrap.dedent(re.search(r"health\.trainyard\.dev_TrainingJob: \|\n(.*?)```", PAGE, re.DOTALL).group(1))
    program = f"obj = {lua(item)}\nlocal found = (function()\n{script}\nend)()\nprint(found.status) print(found.message)"
    done = subprocess.run([LUA, "-"], input=program, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return tuple(done.stdout.splitlines())


def flux_expressions():
    """{what it means where it is true: the expression}; Flux has the object's parts as variables."""
    found = dict(re.findall(r"^    (current|failed): (.*)$", PAGE, re.MULTILINE))
    return {name: re.sub(r"\bstatus\.conditions", "object.status.conditions", text) for name, text in found.items()}


class GitOps(support.Case):
    def setUp(self):
        super().setUp()
        notes = {"fails": {"annotations": {EXIT_CODE: "1"}, "run_for": "1s"}, "ends": {"run_for": "1s"}, "waits": {"replicas": 3, "gpus": 8},
                 "rests": {"run": {"suspend": True}}}
        self.items = {}
        with support.watch_jobs(self.namespace) as jobs:
            for name in JOBS:
                body = job(name, **{"replicas": 1, "gpus": 1, **notes.get(name, {})})
                body["spec"]["failure"] = {"maxRestarts": 0}
                support.create_job(self.namespace, body)
            for name, (phase, _, _) in JOBS.items():
                self.items[name] = wait_phase(jobs, self.namespace, name, phase)

    @unittest.skipUnless(shutil.which(LUA), f"there is no {LUA} (tools/deps brings it)")
    def test_argo_cd(self):
        for name, (phase, health, _) in JOBS.items():
            status, message = argo_health(self.items[name])
            self.assertEqual(health, status, name)
            self.assertTrue(message)
        unseen = {key: value for key, value in self.items["runs"].items() if key != "status"}
        self.assertEqual(("Progressing", "not yet seen by the operator"), argo_health(unseen))

    def test_flux(self):
        expressions = flux_expressions()
        self.assertEqual({"current", "failed"}, set(expressions))
        group = "admissionregistration.k8s.io/v1"
        policy = {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": POLICY}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": ["trainyard.dev"], "apiVersions": ["*"], "operations": ["UPDATE"],
                                                    "resources": ["trainingjobs"]}]},
            "validations": [{"expression": f"!({text})", "message": f"it is {name}"} for name, text in expressions.items()]}}
        binding = {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": POLICY}, "spec": {
            "policyName": POLICY, "validationActions": ["Deny"], "matchResources": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}}}}
        for body in (policy, binding):
            kubectl("create", "-f", "-", input=json.dumps(body))
            self.addCleanup(kubectl, "delete", body["kind"], POLICY)
        # A policy counts some time after it was written.
        support.await_value(lambda: self.judged("ends"), bool, "the policy counts")
        for name, (_, _, judged) in JOBS.items():
            self.assertEqual(judged, self.judged(name), name)

    def judged(self, name):
        """The meanings of the expressions that are true for a job; empty: none is."""
        try:
            kubectl("annotate", "trainingjob", name, "-n", self.namespace, "looked=at", "--overwrite", "--dry-run=server")
        except E2EError as error:
            return re.search(r"it is (\w+)", str(error)).group(1)
        return ""
