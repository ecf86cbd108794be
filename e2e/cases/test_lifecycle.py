"""A job's life from its start to after its end: restarts, rules, deadlines, what is cleaned up and when."""
import json
import subprocess
import unittest

import support
from support import EXIT_CODE, JOB_NAME, condition, core, create_job, custom, finish, given, holds, job, kubectl
from support import members, members_now, node_of, phase, wait_phase

CLUSTER = {"nodes": 4}


def failing(name, code=1, replicas=2, **spec):
    """Its members end with that exit code after a second."""
    return job(name, replicas=replicas, run_for="1s", annotations={EXIT_CODE: str(code)}, **spec)


def restarts(item):
    return (item or {}).get("status", {}).get("restarts", {})


class Lifecycle(support.Case):
    def create(self, body):
        create_job(self.namespace, body)
        return body["metadata"]["name"]

    def patch(self, name, spec):
        custom().patch_namespaced_custom_object(support.GROUP, support.VERSION, self.namespace, support.JOBS, name,
                                                {"spec": spec})

    def wait_gone(self, jobs, pods, name):
        jobs.wait(lambda all_: (self.namespace, name) not in all_, f"{name} is gone")
        pods.wait(lambda all_: not members(all_, name), f"the pods of {name} are gone")

    def test_an_unknown_failure_is_retried_once(self):
        with support.watch_jobs(self.namespace) as jobs:
            name = self.create(failing("twice"))
            ended = wait_phase(jobs, self.namespace, name, "Failed")
            self.assertEqual(restarts(ended), {"counted": 1, "byClass": {"Unknown": 1}})
            last = ended["status"]["lastFailure"]
            self.assertEqual((last["class"], last["action"], last["exitCode"]), ("Unknown", "Failed", 1))
            self.assertIn("Unknown was already retried once", condition(ended, "Failed")["message"])
            self.assertTrue(holds(ended, "Finished"))
            # What waits for the end need not know which one it will be.
            kubectl("wait", f"tj/{name}", "-n", self.namespace, "--for=condition=Finished", "--timeout=10s")

    def test_rules_of_the_user(self):
        with support.watch_jobs(self.namespace) as jobs:
            rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
            name = self.create(failing("fails", 42, failure={"maxRestarts": 5, "rules": [rule]}))
            ended = wait_phase(jobs, self.namespace, name, "Failed")
            self.assertEqual(restarts(ended), {})
            self.assertIn("a rule of spec.failure.rules ends the job", condition(ended, "Failed")["message"])

            rule = {"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [42]}}
            name = self.create(failing("again", failure={"maxRestarts": 0, "rules": [rule]}))
            seen = jobs.wait(lambda all_: restarts(all_.get((self.namespace, name))).get("byClass") and
                             all_[(self.namespace, name)], "it restarts though no restart may be counted")
            self.assertEqual(restarts(seen)["counted"], 0)

    def test_ends_at_its_deadline(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            name = self.create(job("limited", replicas=2, run={"activeDeadlineSeconds": 3}))
            ended = wait_phase(jobs, self.namespace, name, "Failed")
            self.assertEqual(condition(ended, "Failed")["reason"], "DeadlineExceeded")
            self.assertEqual(ended["status"]["lastFailure"]["class"], "DeadlineExceeded")
            pods.wait(lambda all_: not members(all_, name), "what still ran is gone")

    def test_deleted_some_time_after_its_end(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            name = self.create(job("brief", replicas=2, run_for="1s", run={"ttlSecondsAfterFinished": 2}))
            wait_phase(jobs, self.namespace, name, "Succeeded")
            self.wait_gone(jobs, pods, name)
        with support.Recorder(core().list_namespaced_service, self.namespace) as services:
            services.wait(lambda all_: not all_, "its Service is gone")

    def test_clean_pod_policies(self):
        """Two members end well, a parameter server does not; what is left of the three."""
        left = {"Running": {"worker-0", "worker-1"}, "All": set(), "None": {"worker-0", "worker-1", "ps-0"}}
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            for policy, names in left.items():
                body = job(policy.lower(), replicas=2, gpus=1, run={"cleanPodPolicy": policy})
                server = json.loads(json.dumps(body["spec"]["roles"][0]))
                server.update(name="ps", replicas=1)
                server["template"]["spec"]["containers"][0]["resources"] = {}
                body["spec"]["roles"].append(server)
                name = self.create(body)
                wait_phase(jobs, self.namespace, name, "Running")
                kubectl("annotate", "pods", "-n", self.namespace, "-l",
                        f"{JOB_NAME}={name},trainyard.dev/role=worker", f"{support.RUN_FOR}=0s")
                wait_phase(jobs, self.namespace, name, "Succeeded")
                wanted = {f"{name}-{each}" for each in names}
                pods.wait(lambda all_, name=name, wanted=wanted: set(members(all_, name)) == wanted,
                          f"cleanPodPolicy {policy} leaves {wanted}")

    def test_suspended_and_resumed(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            name = self.create(job("paused", replicas=2))
            wait_phase(jobs, self.namespace, name, "Running")
            self.patch(name, {"run": {"suspend": True}})
            wait_phase(jobs, self.namespace, name, "Suspended")
            pods.wait(lambda all_: not members(all_, name), "no pod is left")
            self.patch(name, {"run": {"suspend": False}})
            resumed = wait_phase(jobs, self.namespace, name, "Running")
            self.assertEqual(restarts(resumed), {})
            finish(self.namespace, name)
            wait_phase(jobs, self.namespace, name, "Succeeded")

    def test_drained_and_evicted(self):
        """A user drains a node: the gang restarts elsewhere, and the restart is not counted."""
        with support.watch_jobs(self.namespace) as jobs:
            name = self.create(job("mobile", replicas=2))
            wait_phase(jobs, self.namespace, name, "Running")
            node = node_of(members_now(self.namespace, name)[f"{name}-worker-0"])
            try:
                kubectl("drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=30s")
                moved = jobs.wait(lambda all_: phase(all_[(self.namespace, name)]) == "Running" and
                                  restarts(all_[(self.namespace, name)]) and all_[(self.namespace, name)],
                                  "it runs again")
                self.assertNotIn(node, {node_of(each) for each in members_now(self.namespace, name).values()})
                self.assertEqual(restarts(moved).get("counted", 0), 0)
            finally:
                kubectl("uncordon", node)

    def test_a_guarded_gang_is_not_evicted(self):
        """Its PodDisruptionBudget exists from its first pod on, and is deleted with it."""
        with support.watch_jobs(self.namespace) as jobs:
            name = self.create(job("guarded", replicas=2, gang={"disruptionBudget": True}))
            wait_phase(jobs, self.namespace, name, "Running")
            node = node_of(members_now(self.namespace, name)[f"{name}-worker-0"])
            try:
                with self.assertRaisesRegex(Exception, "disruption budget"):
                    kubectl("drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=5s",
                            "--pod-selector", f"trainyard.dev/job-name={name}")
                done = self.drain(node, "--force", "--timeout", "3")
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, f"{name} are still on node {node} after 3 s: .*disruption budget")
                self.assertEqual(restarts(jobs.objects[(self.namespace, name)]), {})
            finally:
                kubectl("uncordon", node)
            self.assertIn(f"{name}-gang-", kubectl("get", "pdb", "-n", self.namespace, "-o", "name"))
            support.delete_job(self.namespace, name)
            support.await_value(lambda: kubectl("get", "pdb", "-n", self.namespace, "-o", "name"),
                                lambda names: not names.strip(), "the budget is gone")

    def drain(self, *arguments):
        return subprocess.run([support.program("trainyard"), "drain", "--kubeconfig", given().kubeconfig, *arguments],
                              capture_output=True, text=True, timeout=support.PATIENCE, check=False)

    def test_drained_by_the_program(self):
        """A checkpointable gang leaves; another one stays unless forced."""
        with support.watch_jobs(self.namespace) as jobs:
            self.create(job("saves", replicas=1, gpus=4, checkpoint={"mode": "Signal", "gracePeriodSeconds": 1}))
            # A node that was opened a moment ago may cost an attempt: kube-scheduler has not heard of it yet.
            running = wait_phase(jobs, self.namespace, "saves", "Running", timeout=120)
            node = running["status"]["gang"]["placed"]["assignments"][0]["node"]
            body = job("begins", replicas=1, gpus=4)
            body["spec"]["roles"][0]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
            self.create(body)
            wait_phase(jobs, self.namespace, "begins", "Running", timeout=120)
            try:
                done = self.drain(node, "--timeout", "50")
                self.assertEqual((done.returncode, done.stderr), (1, ""))
                self.assertIn("1 of 2 gangs block the drain", done.stdout)
                self.assertEqual(restarts(jobs.objects[(self.namespace, "begins")]), {})
                jobs.wait(lambda all_: restarts(all_[(self.namespace, "saves")]), "it restarts")
                done = self.drain(node, "--force", "--timeout", "50")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            finally:
                kubectl("uncordon", node)

    def test_an_image_that_never_arrives(self):
        """The job names the pod that waits and the reason; nothing is retried without effect, and the job can be
        deleted."""
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            name = self.create(job("imageless", replicas=2, annotations={"sim.trainyard.dev/waiting": "ErrImagePull"}))
            reported = jobs.wait(lambda all_: "waits: ImagePullBackOff" in (condition(
                all_.get((self.namespace, name), {}), "Running") or {}).get("message", "") and
                all_[(self.namespace, name)], "it reports what its pods wait for")
            self.assertEqual(phase(reported), "Starting")
            self.assertEqual(restarts(reported), {})
            support.delete_job(self.namespace, name)
            self.wait_gone(jobs, pods, name)

    def test_priority_class_is_missing(self):
        with support.watch_jobs(self.namespace) as jobs:
            name = self.create(job("classy", replicas=1, priorityClassName="no-such-class"))
            refused = jobs.wait(lambda all_: condition(all_.get((self.namespace, name), {}), "Admitted") and
                                all_[(self.namespace, name)], "it is refused")
            self.assertEqual(condition(refused, "Admitted")["reason"], "PriorityClassNotFound")

    def test_namespace_is_deleted(self):
        ns = self.make_namespace(f"{self.namespace}-gone")
        create_job(ns, job("lost", replicas=2))
        with support.watch_jobs(ns) as jobs, support.watch_pods(ns) as pods:
            wait_phase(jobs, ns, "lost", "Running")
            kubectl("delete", "namespace", ns, "--wait=false")
            jobs.wait(lambda all_: not all_, "the job is gone")
            pods.wait(lambda all_: not all_, "its pods are gone")

    def test_quota_that_the_gang_exceeds(self):
        core().create_namespaced_resource_quota(self.namespace, {
            "metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}})
        with support.watch_jobs(self.namespace) as jobs:
            name = self.create(job("many", replicas=2))
            reported = jobs.wait(lambda all_: "exceeded quota" in json.dumps(
                all_.get((self.namespace, name), {}).get("status", {})) and all_[(self.namespace, name)], "it reports the reason")
            self.assertNotEqual(phase(reported), "Running")
            core().delete_namespaced_resource_quota("few", self.namespace)
            wait_phase(jobs, self.namespace, name, "Running", timeout=90)
            self.assertEqual(len(members_now(self.namespace, name)), 2)


if __name__ == "__main__":
    unittest.main()
