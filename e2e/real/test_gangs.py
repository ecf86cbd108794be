"""TrainingJobs on real nodes: members of busybox that find each other by the environment the operator gave them."""
import signal
import tempfile
from pathlib import Path

import pods
import support
from support import JOB_NAME, given, kubectl, members, wait_phase

CLUSTER = "shared"

# Rank 0 waits at the address that all members are given, the others go there; each prints its address. A name is known
# as soon as its pod has an address, which need not be when the first member asks.
MEET = """
echo "rank $RANK of $WORLD_SIZE, master $MASTER_ADDR"
until nslookup $TRAINYARD_JOB-worker-$((1 - RANK)).$TRAINYARD_JOB.$NAMESPACE.svc.cluster.local >/dev/null
do sleep 0.1; done
echo "found my mate"
if [ $RANK = 0 ]; then echo "hello from 0" | nc -l -p $MASTER_PORT
else until echo "hello from $RANK" | nc $MASTER_ADDR $MASTER_PORT 2>/dev/null; do sleep 0.1; done; fi
"""


# A program that runs until its end is requested, and reports that.
WORK = "trap 'echo asked to end; exit 143' TERM; echo working; while :; do sleep 0.1; done"

# Saves its state when it is asked to over HTTP, which takes a second; records each request in a file, with its time.
ASKED = r"""
mkdir -p /www/cgi-bin
printf '#!/bin/sh\nsleep 1; echo saved >>/state/%s; printf "Content-Type: text/plain\\n\\nyes\\n"\n' $RANK >/www/cgi-bin/save
chmod +x /www/cgi-bin/save
httpd -p 8080 -h /www
trap 'echo asked to end >>/state/$RANK; exit 143' TERM
while :; do sleep 0.1; done
"""


def waits_for_image(job):
    """The job, if it reports that an image keeps it from running."""
    running = support.condition(job, "Running")
    return running and "on node real0 waits: ErrImageNeverPull" in running["message"] and job


class GangCase(support.Case):
    def job(self, name, script, main=None, **spec):
        """Two members with all GPUs of a node each."""
        body = support.job(name, replicas=2, gpus=given().options["gpus"], **spec)
        body["spec"]["roles"][0]["template"]["spec"].update(
            nodeSelector=dict([pods.LIVE]), terminationGracePeriodSeconds=2)
        body["spec"]["roles"][0]["template"]["spec"]["containers"][0].update(
            {**pods.container(script), "env": [{"name": "NAMESPACE", "value": self.namespace}], **(main or {})})
        return body

    def wait_all(self, seen, name, test, what):
        """Waits until test holds of both members."""
        seen.wait(lambda all_: len(members(all_, name)) == 2 and all(map(test, members(all_, name).values())), what)


class Gangs(GangCase):
    def test_members_meet_and_succeed(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("meet", MEET))
            wait_phase(jobs, self.namespace, "meet", "Succeeded")
            nodes = {item["spec"]["nodeName"] for _, item in seen.events if item["spec"].get("nodeName")}
        self.assertEqual(nodes, set(given().real_nodes[:2]))
        for rank in (0, 1):
            log = kubectl("logs", "-n", self.namespace, f"meet-worker-{rank}").splitlines()
            self.assertEqual(log, [f"rank {rank} of 2, master meet-worker-0.meet.{self.namespace}.svc",
                                   "found my mate", f"hello from {1 - rank}"])

    def test_a_failing_program_ends_its_gang(self):
        """The other member is terminated; the job reports which member failed, and how."""
        script = "trap 'exit 143' TERM; [ $RANK = 1 ] && exit 3; while :; do sleep 0.1; done"
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("fails", script, failure={"maxRestarts": 0}))
            job = wait_phase(jobs, self.namespace, "fails", "Failed")
            seen.wait(lambda all_: all(support.ended(item) for item in all_.values()), "no member runs")
            codes = {(item["metadata"]["name"], pods.ended(item)["exitCode"])
                     for _, item in seen.events if pods.ended(item) and item["metadata"]["labels"].get(JOB_NAME)}
        self.assertIn("fails-worker-1 on node", support.condition(job, "Failed")["message"])
        self.assertIn("exit code 3", support.condition(job, "Failed")["message"])
        self.assertEqual(codes, {("fails-worker-1", 3), ("fails-worker-0", 143)})


class Checkpoints(GangCase):
    def test_asked_over_http(self):
        """Each member is asked for its state, answers when it has saved it, and is terminated only then."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        body = self.job("asked", ASKED, main={"volumeMounts": [{"name": "state", "mountPath": "/state"}]},
                        checkpoint={"mode": "HTTP", "gracePeriodSeconds": 20, "http": {"port": 8080, "path": "/cgi-bin/save"}})
        body["spec"]["roles"][0]["template"]["spec"]["volumes"] = [
            {"name": "state", "hostPath": {"path": str(folder), "type": "Directory"}}]
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, body)
            wait_phase(jobs, self.namespace, "asked", "Running")
            kubectl("patch", "trainingjob", "asked", "-n", self.namespace, "--type=merge", "-p", '{"spec":{"run":{"suspend":true}}}')
            seen.wait(lambda all_: not all_, "its pods are gone")
        for rank in "01":
            self.assertEqual((folder / rank).read_text(), "saved\nasked to end\n")


class Failures(GangCase):
    def test_a_member_that_takes_too_much_memory(self):
        script = f"if [ $RANK = 1 ]; then {pods.GREEDY}; fi; {WORK}"
        body = self.job("greedy", script, main={"resources": {"limits": {
            support.GPU: str(given().options["gpus"]), "memory": "64Mi"}}}, failure={"maxRestarts": 0})
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, body)
            self.wait_all(seen, "greedy", pods.ready, "both run")
            pods.end_greedy(seen.objects[(self.namespace, "greedy-worker-1")])
            job = wait_phase(jobs, self.namespace, "greedy", "Failed")
        self.assertIn("exit code 137 (OOMKilled)", support.condition(job, "Failed")["message"])

    def test_an_image_that_no_node_has(self):
        """The gang holds its nodes and does not run; deleting the job frees them."""
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("absent", WORK, main={"image": "docker.io/local/absent:1"}))
            self.wait_all(seen, "absent", lambda item: pods.main_state(item).get("waiting", {}).get("reason")
                          == "ErrImageNeverPull", "both wait for their image")
            job = jobs.wait(lambda all_: waits_for_image(all_[(self.namespace, "absent")]), "the job reports what it waits for")
            self.assertEqual((support.phase(job), job["status"]["ready"]), ("Starting", "0/2"))
            support.delete_job(self.namespace, "absent")
            seen.wait(lambda all_: not all_, "its pods are gone")
            support.create_job(self.namespace, self.job("next", "exit 0"))
            wait_phase(jobs, self.namespace, "next", "Succeeded")

    def test_a_pre_stop_hook_that_hangs(self):
        """The grace period ends it; no other gang gets the nodes sooner."""
        hook = {"preStop": {"exec": {"command": ["sleep", "3600"]}}}
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            support.create_job(self.namespace, self.job("hangs", WORK, main={"lifecycle": hook}))
            wait_phase(jobs, self.namespace, "hangs", "Running")
            support.create_job(self.namespace, self.job("next", "exit 0"))
            wait_phase(jobs, self.namespace, "next", "Queued")
            support.delete_job(self.namespace, "hangs")
            wait_phase(jobs, self.namespace, "next", "Succeeded")
            working = set()
            for _, item in seen.events:
                name = item["metadata"]["name"]
                if item["metadata"]["labels"][JOB_NAME] == "hangs":
                    (working.discard if pods.ended(item) else working.add)(name)
                elif support.node_of(item):
                    self.assertEqual(working, set(), f"{name} was bound beside members of the old gang")

    def start_working(self, jobs, seen, name):
        """A gang at work; returns the uids of its pods."""
        support.create_job(self.namespace, self.job(name, WORK))
        wait_phase(jobs, self.namespace, name, "Running")
        self.wait_all(seen, name, pods.ready, "both work")
        return {item["metadata"]["uid"] for item in members(seen.objects, name).values()}

    def wait_restarted(self, jobs, seen, name, old):
        """Waits until the whole gang works again, in new pods; returns how the old ones ended."""
        self.wait_all(seen, name, lambda item: pods.ready(item) and item["metadata"]["uid"] not in old,
                      "both work again")
        wait_phase(jobs, self.namespace, name, "Running")
        for pod in members(seen.objects, name):
            self.assertEqual(kubectl("logs", "-n", self.namespace, pod), "working\n")
        return {support.node_of(item): pods.ended(item)["exitCode"] for _, item in seen.events
                if pods.ended(item) and item["metadata"]["uid"] in old}

    def wait_evicted(self, seen, node):
        seen.wait(lambda all_: any(item["metadata"].get("deletionTimestamp") and support.node_of(item) == node
                                   for item in all_.values()), f"the member on {node} is evicted")

    def test_a_kubelet_stopped_under_a_running_gang(self):
        """Its member is evicted and lost; the whole gang restarts once the old processes have ended."""
        first, second = given().real_nodes[:2]
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            old = self.start_working(jobs, seen, "cut")
            given().kill(f"kubelet-{second}", signal.SIGSTOP)
            try:
                self.wait_evicted(seen, second)
            finally:
                given().kill(f"kubelet-{second}", signal.SIGCONT)
            codes = self.wait_restarted(jobs, seen, "cut", old)
        self.assertEqual(codes, {first: 143, second: 143}, "the old processes were terminated")

    def test_a_node_switched_off_under_a_running_gang(self):
        first, second = given().real_nodes[:2]
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as seen:
            old = self.start_working(jobs, seen, "dark")
            given().power_off(second)
            try:
                self.wait_evicted(seen, second)
            finally:
                given().power_on(second)
            codes = self.wait_restarted(jobs, seen, "dark", old)
        self.assertEqual(codes[first], 143, "the reachable member was terminated")
