"""Trainyard installed by its chart: operator and extender as pods, kube-scheduler reaching the extender through its
Service; jobs continue while it is upgraded, rolled back and killed; uninstalled, it leaves nothing.
"""
import json
import os
import unittest

import charted
import pods
import support
from lib import leaks, trainyard
from lib.helm import NAMESPACE
from support import EXTENDER, OPERATOR, given, kubectl, phase, wait_phase

CLUSTER = None

setUpModule, tearDownModule = charted.up, charted.down  # names that unittest knows


def attempts_that_failed():
    return charted.attempts().get("error", 0)


class Installed(support.Case):
    def succeed(self, *names):
        with support.watch_jobs(self.namespace) as jobs:
            for name in names:
                wait_phase(jobs, self.namespace, name, "Succeeded", 120)

    def test_a_job_runs_on_real_nodes(self):
        with support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, charted.job("first", 'echo "rank $RANK"'))
            self.succeed("first")
            nodes = {item["spec"]["nodeName"] for _, item in seen.events if item["spec"].get("nodeName")}
        self.assertEqual(set(given().real_nodes), nodes)
        for rank in (0, 1):
            self.assertEqual(f"rank {rank}\n", kubectl("logs", "-n", self.namespace, f"first-worker-{rank}"))

    def test_the_programs_run_without_privileges(self):
        for program in (OPERATOR, EXTENDER):
            found = charted.pods_of(program)
            self.assertEqual(2, len(found))
            self.assertEqual(set(given().real_nodes), {item["spec"]["nodeName"] for item in found},
                             "the two replicas are on different nodes")
            for item in found:
                self.assertTrue(item["spec"]["securityContext"]["runAsNonRoot"])
                container = item["spec"]["containers"][0]["securityContext"]
                self.assertTrue(container["readOnlyRootFilesystem"])
                self.assertEqual(["ALL"], container["capabilities"]["drop"])

    def test_helm_test_passes(self):
        self.assertIn("Phase:          Succeeded", charted.release().helm("test", "trainyard", "--timeout=90s"))

    def test_the_command_line_runs_in_a_pod(self):
        """Its image, as a ServiceAccount that may look at its namespace and no other."""
        image = charted.release().load_image(trainyard.command_line(os.environ["TRAINYARD_E2E_BIN"]), "trainyard-cli")
        support.create_job(self.namespace, charted.job("seen"))
        kubectl("create", "rolebinding", "look", "-n", self.namespace, "--clusterrole=view",
                f"--serviceaccount={self.namespace}:default")
        for name, args, phase_then in (("mine", ["status"], "Succeeded"), ("others", ["status", "-n", NAMESPACE], "Failed")):
            container = {"name": "trainyard", "image": image, "imagePullPolicy": "Never", "args": args,
                         "securityContext": {"readOnlyRootFilesystem": True, "runAsNonRoot": True}}
            kubectl("create", "-n", self.namespace, "-f", "-", input=json.dumps({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"restartPolicy": "Never", "containers": [container]}}))
            with support.watch_pods(self.namespace) as seen:
                seen.wait(lambda all_, name=name, wanted=phase_then: all_[self.namespace, name]["status"]["phase"] == wanted,
                          f"{name} is {phase_then}")
        self.assertIn("seen", kubectl("logs", "-n", self.namespace, "mine"))
        self.assertIn("forbidden", kubectl("logs", "-n", self.namespace, "others"))

    def test_kube_scheduler_asks_through_the_service(self):
        """A foreign pod does not get the GPUs of a running gang; so the extender was asked, and answered."""
        before = charted.attempts()
        with charted.load(self.namespace) as bound:
            support.await_value(bound, lambda count: count >= 5, "foreign pods are bound")
        after = charted.attempts()
        self.assertEqual(before.get("error", 0), after.get("error", 0))
        self.assertIn(f"https://{charted.release().service_address()}:443/",
                      (given().dir / "kube-scheduler.yaml").read_text())

    def test_an_upgrade_and_a_rollback_lose_nothing(self):
        """Jobs are created all the time, each placed as a whole; both programs' pods are replaced twice meanwhile."""
        failed = attempts_that_failed()
        names = [f"gang{number}" for number in range(12)]
        with support.watch_pods(self.namespace) as seen, support.watch_jobs(self.namespace) as jobs:
            for name in names[:4]:
                support.create_job(self.namespace, charted.job(name))
            jobs.wait(lambda all_: any(item.get("status", {}).get("gang", {}).get("proposal")
                                       for item in all_.values()), "a gang is being placed")
            note = {"podAnnotations": {"upgraded": "true"}}
            charted.release().upgrade({"operator": note, "extender": note}, wait=False)
            for name in names[4:8]:
                support.create_job(self.namespace, charted.job(name))
            for program in (OPERATOR, EXTENDER):
                charted.await_rollout(program)
            charted.release().rollback(wait=False)
            for name in names[8:]:
                support.create_job(self.namespace, charted.job(name))
            for program in (OPERATOR, EXTENDER):
                charted.await_rollout(program)
            for name in names:
                wait_phase(jobs, self.namespace, name, "Succeeded", 180)
            uids = {}
            for _, item in seen.events:
                uids.setdefault(item["metadata"]["name"], set()).add(item["metadata"]["uid"])
        self.assertEqual({}, {name: len(found) for name, found in uids.items() if len(found) > 1},
                         "pods that were made more than once")
        self.assertEqual(failed, attempts_that_failed(), "scheduling attempts that failed")

    def test_killed_as_pods_while_a_gang_is_placed(self):
        """Attempts fail while no extender answers; they are repeated, and nothing is lost or done twice."""
        with support.watch_jobs(self.namespace) as jobs:
            for number in range(3):
                name = f"survivor{number}"
                support.create_job(self.namespace, charted.job(name))
                jobs.wait(lambda all_, name=name: phase(all_.get((self.namespace, name), {})) not in (None, "Pending"),
                          f"the operator has seen {name}")
                charted.kill_pods(*((OPERATOR, EXTENDER), (OPERATOR,), (EXTENDER,))[number])
                wait_phase(jobs, self.namespace, name, "Succeeded", 180)
        for program in (OPERATOR, EXTENDER):
            charted.await_rollout(program)


class Uninstalled(unittest.TestCase):
    def test_uninstalling_leaves_nothing(self):
        """Nothing is left of a gang that runs meanwhile either."""
        self.assertTrue(leaks.logs_of_pods(given(), NAMESPACE))
        charted.check_logs(given())
        space = "left-behind"
        kubectl("create", "namespace", space)
        support.create_job(space, charted.job("running", "sleep 3600"))
        with support.watch_jobs(space) as jobs:
            wait_phase(jobs, space, "running", "Running")
        charted.release().uninstall()
        self.assertEqual([], given().json("get", "pods", "-n", space)["items"])
        # helm waits for the Deployments; their pods have some seconds to terminate.
        with support.watch_pods(NAMESPACE) as seen:
            seen.wait(lambda all_: not all_, "the programs' pods are gone")
        kinds = kubectl("api-resources", "--verbs=list", "-o", "name").split()
        self.assertFalse([kind for kind in kinds if "trainyard" in kind], "kinds that are still served")
        left = []
        # Events record the past, and expire after an hour.
        for kind in sorted(set(kinds) - {"events", "events.events.k8s.io"}):
            for item in given().json("get", kind, "-A")["items"]:
                text = json.dumps([item["metadata"].get("labels"), item["metadata"]["name"],
                                   item["metadata"].get("finalizers")]).replace("sim.trainyard.dev/kubelet", "")
                mine = item["metadata"].get("namespace") == NAMESPACE
                if "trainyard" in text or mine:
                    left.append(f"{kind}/{item['metadata']['name']}")
        # What Kubernetes puts into every namespace, and the namespace, which `helm install --create-namespace` made.
        always = {"configmaps/kube-root-ca.crt", "serviceaccounts/default", f"namespaces/{NAMESPACE}"}
        self.assertEqual([], sorted(set(left) - always))
