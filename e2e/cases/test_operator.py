"""The two programs as an administrator sees them: restarts, a standby, health, metrics, logs, rights."""
import json
import re
import signal
import time
import unittest

import support
from lib.api import fetch
from support import EXTENDER, OPERATOR, SYSTEM, finish, given, members, members_now, phase, wait_phase

CLUSTER = {"nodes": 4, "audit": True}
STANDBY = "trainyard-operator-standby"
LEASE_SECONDS = 10
# The lease runs out, the standby notices at its next look; the rest is a busy machine.
TAKE_OVER_SECONDS = LEASE_SECONDS + 2
# A released Lease is seen at the next look: no replica waits until it expires.
CLEAN_SECONDS = 2
PROMPT_SECONDS = 5


def wait_holder(leases, test, what, timeout=support.PATIENCE):
    return leases.wait(lambda all_: test(support.holder(all_)) and (support.holder(all_) or True), what,
                       timeout)


def snapshot(namespace, name):
    """Everything about a job's pods that a client could have changed."""
    return {key: (pod["metadata"]["uid"], pod["metadata"]["resourceVersion"])
            for key, pod in members_now(namespace, name).items()}


def urls(name):
    record = given().processes()[name]
    return record["ready"].rpartition("/")[0]


class OperatorCase(support.Case):
    def start_job(self, jobs, name, **options):
        support.create_job(self.namespace, support.job(name, **options))
        wait_phase(jobs, self.namespace, name, "Running")
        count = options.get("replicas", 4)
        jobs.wait(lambda all_: all_[(self.namespace, name)]["status"]["ready"] == f"{count}/{count}",
                  f"{name} is ready")
        return snapshot(self.namespace, name)

    def finish_job(self, jobs, name):
        finish(self.namespace, name)
        wait_phase(jobs, self.namespace, name, "Succeeded")


class Restart(OperatorCase):
    def test_sigterm(self):
        with support.watch_jobs() as jobs, support.leases() as leases:
            wait_holder(leases, bool, "an operator leads")
            before = self.start_job(jobs, "calm")
            given().kill(OPERATOR, signal.SIGTERM)
            self.assertEqual(support.wait_exit(OPERATOR, 10), "exit code 0")
            wait_holder(leases, lambda name: name == "", "the lease is given back", PROMPT_SECONDS)
            begun = time.monotonic()
            given().start(OPERATOR)
            wait_holder(leases, bool, "the new one leads at once")
            self.assertLess(time.monotonic() - begun, LEASE_SECONDS, "it had no lease to wait for")
            # A second job shows that the new one has looked at everything.
            support.create_job(self.namespace, support.job("next"))
            wait_phase(jobs, self.namespace, "next", "Queued")
            self.assertEqual(snapshot(self.namespace, "calm"), before)
            self.finish_job(jobs, "calm")
            wait_phase(jobs, self.namespace, "next", "Running")

    def test_sigkill(self):
        with support.watch_jobs() as jobs, support.watch_pods() as pods, support.leases() as leases:
            old = wait_holder(leases, bool, "an operator leads")
            before = self.start_job(jobs, "calm")
            given().kill(OPERATOR)
            self.assertEqual(support.wait_exit(OPERATOR), "killed by SIGKILL")
            # No operator is there to notice that members end.
            finish(self.namespace, "calm")
            pods.wait(lambda all_: [support.ended(item) for item in members(all_, "calm").values()] == [True] * 4,
                      "all members end")
            self.assertEqual(phase(support.get_job(self.namespace, "calm")), "Running")
            given().start(OPERATOR)
            wait_holder(leases, lambda name: name not in ("", old), "the new one leads")
            job = wait_phase(jobs, self.namespace, "calm", "Succeeded")
            self.assertEqual(job["status"]["gang"]["placed"]["epoch"], 1)
            after = {name: uid for name, (uid, _) in snapshot(self.namespace, "calm").items()}
            self.assertEqual(after, {name: uid for name, (uid, _) in before.items()})

    def test_killed_while_a_gang_starts(self):
        """No scheduler binds, so the gang stays between its reservation and its start."""
        with support.watch_jobs() as jobs, support.watch_pods() as pods, support.leases() as leases:
            wait_holder(leases, bool, "an operator leads")
            given().kill("kube-scheduler", signal.SIGSTOP)
            self.addCleanup(given().kill, "kube-scheduler", signal.SIGCONT)
            support.create_job(self.namespace, support.job("starting"))
            pods.wait(lambda all_: len(members(all_, "starting")) == 4, "the pods exist")
            given().kill(OPERATOR)
            uids = {name: uid for name, (uid, _) in snapshot(self.namespace, "starting").items()}
            given().kill("kube-scheduler", signal.SIGCONT)
            given().start(OPERATOR)
            job = wait_phase(jobs, self.namespace, "starting", "Running")
            self.assertEqual(job["status"]["gang"]["placed"]["epoch"], 1, "the same attempt was carried on")
            self.assertEqual({name: uid for name, (uid, _) in snapshot(self.namespace, "starting").items()}, uids)


class Standby(OperatorCase):
    def start_standby(self, identity):
        cluster = given()
        first = cluster.processes()[OPERATOR]["argv"]
        port = cluster.spare_ports[1]
        argv = [each for each in first if not each.startswith("--listen")]
        argv += [f"--listen=127.0.0.1:{port}", f"--identity={identity}"]
        cluster.run(STANDBY, argv, ready=f"http://127.0.0.1:{port}/readyz",
                    metrics=f"http://127.0.0.1:{port}/metrics", timeout=60)

    def test_take_over(self):
        cluster = given()
        with support.watch_jobs() as jobs, support.leases() as leases:
            first = wait_holder(leases, bool, "an operator leads")
            self.start_standby("the-standby")
            self.assertEqual(cluster.metrics(STANDBY)["trainyard_leader"], 0)
            self.assertEqual(cluster.metrics(OPERATOR)["trainyard_leader"], 1)
            before = self.start_job(jobs, "calm")

            with self.subTest("the leader is killed"):
                cluster.kill(OPERATOR)
                begun = time.monotonic()
                support.create_job(self.namespace, support.job("next"))
                wait_holder(leases, lambda name: name == "the-standby", "the standby leads",
                            TAKE_OVER_SECONDS + PROMPT_SECONDS)
                wait_phase(jobs, self.namespace, "next", "Queued")
                took = time.monotonic() - begun
                self.assertEqual(snapshot(self.namespace, "calm"), before)
                self.assertLess(took, TAKE_OVER_SECONDS + PROMPT_SECONDS)
                self.assertGreater(took, 1, "a lease is not taken before its time")
                self.assertGreater(leases.objects[(SYSTEM, OPERATOR)]["spec"]["leaseTransitions"], 0)

            with self.subTest("the leader stands still, and wakes up as one among others"):
                cluster.start(OPERATOR)
                cluster.kill(STANDBY, signal.SIGSTOP)
                second = wait_holder(leases, lambda name: name not in ("the-standby", ""),
                                     "the other leads again", TAKE_OVER_SECONDS + PROMPT_SECONDS)
                self.assertNotEqual(second, first, "each start has a name of its own")
                cluster.kill(STANDBY, signal.SIGCONT)
                self.assertEqual(support.wait_exit(STANDBY, 20), "exit code 1")
                self.assertEqual(support.holder(leases.objects), second)

            with self.subTest("the leader ends in peace, and the other one goes on at once"):
                cluster.start(STANDBY)
                support.delete_job(self.namespace, "next")
                jobs.wait(lambda all_: (self.namespace, "next") not in all_, "it is gone")
                begun = time.monotonic()
                cluster.kill(OPERATOR, signal.SIGTERM)
                support.create_job(self.namespace, support.job("next"))
                wait_holder(leases, lambda name: name == "the-standby", "the standby leads")
                wait_phase(jobs, self.namespace, "next", "Queued")
                took = time.monotonic() - begun
                self.assertLess(took, CLEAN_SECONDS + PROMPT_SECONDS)
                print(f"handed over, and the next job looked at, in {took:.1f} s")
                cluster.start(OPERATOR)
                self.finish_job(jobs, "calm")
                wait_phase(jobs, self.namespace, "next", "Running")
                self.assertEqual(len(members_now(self.namespace, "next")), 4)


class Observability(OperatorCase):
    """What monitoring and people with a terminal see."""

    def test_health(self):
        for name in (OPERATOR, EXTENDER):
            for path in ("healthz", "readyz", "metrics"):
                with self.subTest(f"{name} /{path}"):
                    status, text = fetch(f"{urls(name)}/{path}")
                    self.assertEqual(status, 200, text)
            with self.subTest(f"{name} /nothing"):
                self.assertEqual(fetch(f"{urls(name)}/nothing")[0], 404)

    def test_metrics(self):
        for name in (OPERATOR, EXTENDER):
            with self.subTest(name):
                _, text = fetch(f"{urls(name)}/metrics")
                check_exposition(self, text)
                ours = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
                self.assertTrue(all(each.startswith(("trainyard_", "process_")) for each in ours), ours)
        with support.watch_jobs() as jobs:
            before = given().metrics(OPERATOR)
            self.start_job(jobs, "counted", replicas=2)
            placed = "trainyard_gpus_placed"
            after = support.await_value(lambda: given().metrics(OPERATOR),
                                        lambda now: now[placed] - before[placed] == 16, "16 GPUs are placed")
            self.assertEqual(after["trainyard_gpus_allocatable"], 32)
            self.assertEqual(after['trainyard_jobs{phase="Running"}'], 1)
            writes = 'trainyard_api_writes_total{resource="pods"}'
            self.assertEqual(after[writes] - before.get(writes, 0), 4, "two pods created, two released")
            self.assertGreater(after["trainyard_cycles_total"], before["trainyard_cycles_total"])

    def test_logs(self):
        with support.watch_jobs() as jobs:
            self.start_job(jobs, "talked-about")
            self.finish_job(jobs, "talked-about")

        def story():
            return [line["msg"] for line in support.log_lines(OPERATOR)
                    if (line.get("namespace"), line.get("job")) == (self.namespace, "talked-about")]
        support.await_value(story, lambda steps: steps == ["Placed", "RolesSucceeded"], "both steps are logged")
        for name in (OPERATOR, EXTENDER):
            for line in support.log_lines(name):
                self.assertLessEqual({"time", "level", "component", "msg"}, set(line), line)
                self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")

    def test_wrong_flags(self):
        for name in (OPERATOR, EXTENDER):
            binary, *given_flags = given().processes()[name]["argv"]
            other = ("--kubeconfig", "--listen", "--metrics")
            usual = [each for each in given_flags if not each.startswith(other)]
            usual.append("--listen=127.0.0.1:0")
            for flags, words in ((["--no-such-flag"], "no-such-flag"), (["--log-level", "shout"], "shout"),
                                (["--log-format", "xml"], "xml"),
                                (["--kubeconfig", "/no/such/file"], "/no/such/file")):
                with self.subTest(f"{name} {' '.join(flags)}"):
                    done = support.run([binary, *usual, *flags], timeout=10)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertGreater(done.returncode, 0, "it crashed")
                    self.assertIn(words, done.stderr + done.stdout)
            with self.subTest(f"{name} --version"):
                done = support.run([binary, "--version"], timeout=10)
                self.assertEqual(done.returncode, 0)
                self.assertIn(name, done.stdout)


def check_exposition(test, text):
    """Prometheus' text format: every sample belongs to a family whose HELP and TYPE appear once."""
    helped, typed = set(), {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, words = line.split(" ", 3)
            test.assertNotIn(name, helped)
            test.assertTrue(words)
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            test.assertNotIn(name, typed)
            typed[name] = kind
        elif line:
            found = re.fullmatch(r'([a-z_:][a-z0-9_:]*)(\{.*\})? (\S+)( \d+)?', line)
            test.assertIsNotNone(found, line)
            name = re.sub(r"_(bucket|sum|count)$", "", found[1])
            test.assertTrue(found[1] in typed or typed.get(name) == "histogram", line)
            float(found[3])
            if typed.get(found[1]) == "counter":
                test.assertTrue(found[1].endswith("_total"), line)
    test.assertEqual(helped, set(typed))


class ZRights(OperatorCase):
    """Last by its name: checks what the programs did during all other tests of this file."""

    def test_no_request_was_refused(self):
        seen = {OPERATOR: 0, EXTENDER: 0}
        refused = []
        with (given().dir / "audit.log").open(encoding="utf-8") as log:
            for line in log:
                event = json.loads(line)
                name = event["user"]["username"].removeprefix(f"system:serviceaccount:{SYSTEM}:")
                if name not in seen:
                    continue
                seen[name] += 1
                if event["responseStatus"]["code"] in (401, 403):
                    refused.append(f"{name}: {event['verb']} {event['requestURI']}")
        self.assertEqual(refused, [])
        self.assertTrue(all(count >= 3 for count in seen.values()), seen)
        for name in seen:
            text = given().log(name).read_text()
            self.assertNotIn("forbidden", text.lower())
            worst = [line for line in support.log_lines(name) if line["level"] == "error"
                     and line["msg"] != "leadership lost"]
            self.assertEqual(worst, [])

    def test_no_program_is_admin(self):
        rules = support.client.AuthorizationV1Api(support.api_client())

        def may(account, verb, resource, group="", namespace="", subresource="", name=""):
            answer = rules.create_subject_access_review({"spec": {
                "user": f"system:serviceaccount:{SYSTEM}:{account}",
                "groups": ["system:authenticated", "system:serviceaccounts",
                           f"system:serviceaccounts:{SYSTEM}"],
                "resourceAttributes": {"verb": verb, "resource": resource, "group": group, "name": name,
                                       "namespace": namespace, "subresource": subresource}}})
            return answer.status.allowed
        for account in (OPERATOR, EXTENDER):
            for verb, resource, group in (
                    ("*", "*", "*"), ("get", "secrets", ""), ("list", "secrets", ""),
                    ("create", "deployments", "apps"), ("delete", "nodes", ""),
                    ("create", "clusterrolebindings", "rbac.authorization.k8s.io"),
                    ("patch", "nodes", ""), ("delete", "queues", "trainyard.dev"),
                    ("create", "trainingjobs", "trainyard.dev"), ("impersonate", "users", ""),
                    ("create", "pods/exec", "")):
                resource, _, subresource = resource.partition("/")
                with self.subTest(f"{account} {verb} {group}/{resource} {subresource}"):
                    self.assertFalse(may(account, verb, resource, group, subresource=subresource))
        lease = {"group": "coordination.k8s.io", "name": OPERATOR}
        self.assertTrue(may(OPERATOR, "update", "leases", namespace=SYSTEM, **lease))
        self.assertFalse(may(OPERATOR, "update", "leases", namespace="kube-system", **lease))
        for verb in ("create", "update", "patch", "delete"):
            for resource, group in (("pods", ""), ("trainingjobs", "trainyard.dev"), ("nodes", "")):
                with self.subTest(f"the extender writes nothing: {verb} {resource}"):
                    self.assertFalse(may(EXTENDER, verb, resource, group))


if __name__ == "__main__":
    unittest.main()
