"""Preemption, backfill, relaxation, charging, and what `trainyard simulate` predicts of them."""
import json
import time
from datetime import datetime

import support
from lib.api import fetch
from support import GPU, GROUP, OPERATOR, VERSION, condition, core, custom, given, holds, job, kubectl, phase, wait_phase

CLUSTER = {"nodes": 8}  # of 8 GPUs, n0000 to n0003 in one rack, the others in the next
POLICY = "ordering: fifo\npreemption: {minRuntime: 2s}\nchargeOtherPods: true\nusageHalfLife: 20s\n"
QUEUES = "queues"
URGENT = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: e2e-urgent}
value: 1000
"""


def pending(jobs, key, reason=None):
    def found(all_):
        waits = all_.get(key, {}).get("status", {}).get("pending")
        return waits if waits and reason in (None, waits["reason"]) else None
    return jobs.wait(found, f"{key[1]} waits: {reason}")


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def placed_at(item):
    return moment(condition(item, "Scheduled")["lastTransitionTime"])


def nodes_of(item):
    return sorted(each["node"] for each in item["status"]["gang"]["placed"]["assignments"])


def estimate(seconds):
    return {"estimate": {"durationSeconds": seconds}}


class SchedulingCase(support.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = given().dir / "policy.yaml"
        if cls.file.read_text() == POLICY:
            return
        fresh = cls.file.with_suffix(".new")
        fresh.write_text(POLICY)
        fresh.rename(cls.file)
        line = 'trainyard_policy_reloads_total{result="taken"} 1'
        support.await_value(lambda: fetch(given().processes()[OPERATOR]["metrics"])[1].splitlines(),
                            lambda lines: line in lines, "the policy is taken")
        kubectl("apply", "-f", "-", input=URGENT)

    def create_queue(self, name, **spec):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Queue", "metadata": {"name": name}, "spec": spec}
        custom().create_cluster_custom_object(GROUP, VERSION, QUEUES, body)
        self.addCleanup(custom().delete_cluster_custom_object, GROUP, VERSION, QUEUES, name)

    def submit(self, name, replicas, **options):
        support.create_job(self.namespace, job(name, replicas=replicas, **options))
        return self.namespace, name

    def run_now(self, jobs, name, replicas, **options):
        self.submit(name, replicas, **options)
        return wait_phase(jobs, self.namespace, name, "Running")

    def simulate(self, name, replicas, **options):
        """The program's answer for this job: exit status and forecast."""
        body = job(name, replicas=replicas, **options)
        program = next(path for path in (support.ROOT / support.bin_dir() / "cli" / "trainyard",
                                         support.ROOT / support.bin_dir() / "trainyard") if path.is_file())
        done = support.run([program, "simulate", f"--kubeconfig={given().kubeconfig}", f"--policy={self.file}",
                            f"--namespace={self.namespace}", "-f", "-", "-o", "json"], input=json.dumps(body))
        self.assertEqual("", done.stderr)
        return done.returncode, json.loads(done.stdout)["items"][0]


class Preemption(SchedulingCase):
    def test_an_urgent_job_preempts_a_whole_gang(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.run_now(jobs, "calm", 8)
            said = support.await_value(lambda: self.simulate("urgent", 1, priorityClassName="e2e-urgent"),
                                       lambda answer: answer[0] == 0, "it would start at once")[1]
            self.assertEqual(["calm"], [each["name"] for each in said["stops"]])
            urgent = self.run_now(jobs, "urgent", 1, priorityClassName="e2e-urgent")
            self.assertEqual(sorted(each["node"] for each in said["places"]), nodes_of(urgent))
            wait_phase(jobs, self.namespace, "calm", "Queued")
            self.assertEqual(1, jobs.objects[(self.namespace, "calm")]["status"]["preemptions"]["count"])
            pods.wait(lambda all_: not support.members(all_, "calm"), "no member of the victim is left")
            events = json.loads(kubectl("get", "events.events.k8s.io", "-n", self.namespace, "-o", "json"))["items"]
            self.assertIn(("calm", "Preempted"), {(each["regarding"]["name"], each["reason"]) for each in events})
            support.finish(self.namespace, "urgent")
            wait_phase(jobs, self.namespace, "calm", "Running")

    def test_no_gang_is_preempted_for_pods_that_a_quota_refuses(self):
        """The quota admits one pod, and so the check of templates; it refuses the gang's second pod."""
        poor = self.make_namespace("e2e-poor")
        core().create_namespaced_resource_quota(poor, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}})
        support.await_value(lambda: core().read_namespaced_resource_quota("few", poor).status.hard, bool,
                            "the quota is counted")
        with support.watch_jobs() as jobs:
            self.run_now(jobs, "calm", 8)
            support.create_job(poor, job("urgent", replicas=2, priorityClassName="e2e-urgent"))
            waits = jobs.wait(lambda all_: (lambda backoff: backoff.get("count", 0) >= 3 and backoff)(
                all_.get((poor, "urgent"), {}).get("status", {}).get("gang", {}).get("backoff", {})),
                "three attempts are given up")
            self.assertIn("exceeded quota: few", waits["reason"])
            self.assertNotIn("preemptions", jobs.objects[(self.namespace, "calm")]["status"])
            self.assertEqual("Running", phase(jobs.objects[(self.namespace, "calm")]))
            core().delete_namespaced_resource_quota("few", poor)
            wait_phase(jobs, poor, "urgent", "Running")
            wait_phase(jobs, self.namespace, "calm", "Queued")

    def test_a_queue_reclaims_its_guarantee(self):
        self.create_queue("lender", guaranteed={GPU: 32})
        self.create_queue("borrower", guaranteed={GPU: 32})
        with support.watch_jobs(self.namespace) as jobs:
            self.run_now(jobs, "own", 4, queue="borrower")
            self.run_now(jobs, "lent", 4, queue="borrower")
            self.run_now(jobs, "back", 4, queue="lender")
            runs = {name: phase(item) for (_, name), item in jobs.objects.items()}
            self.assertEqual(["Queued", "Running"], sorted((runs["own"], runs["lent"])))
            preempted = "own" if runs["own"] == "Queued" else "lent"
            waits = pending(jobs, (self.namespace, preempted))
            time.sleep(3)  # Longer than minRuntime: the preempted job does not return.
            self.assertEqual("Running", phase(jobs.objects[(self.namespace, "back")]), waits)


class Volumes(SchedulingCase):
    def volume(self, name, nodes):
        """A volume that only these nodes reach, and a claim that is bound to it."""
        reach = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]}}
        size = {"storage": "1Gi"}
        core().create_persistent_volume({
            "metadata": {"name": name},
            "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "", "nodeAffinity": reach,
                     "claimRef": {"namespace": self.namespace, "name": name}, "local": {"path": "/data"}}})
        self.addCleanup(core().delete_persistent_volume, name)
        core().create_namespaced_persistent_volume_claim(self.namespace, {
            "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name,
                     "resources": {"requests": size}}})

    def reading(self, claim, replicas):
        body = job(f"reads-{claim}", replicas=replicas)
        body["spec"]["roles"][0]["template"]["spec"]["volumes"] = [
            {"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        support.create_job(self.namespace, body)
        return self.namespace, body["metadata"]["name"]

    def test_a_gang_goes_where_its_volume_is(self):
        with support.watch_jobs(self.namespace) as jobs:
            key = self.reading("far", 2)
            self.assertIn("PersistentVolumeClaim far does not exist", pending(jobs, key, "WaitingForVolume")["message"])
            self.volume("far", ["n0005", "n0007"])
            placed = wait_phase(jobs, *key, "Running")
            self.assertEqual(["n0005", "n0007"], nodes_of(placed))
            self.assertNotIn("backoff", placed["status"]["gang"], "at the first attempt")


class Backfill(SchedulingCase):
    def test_a_job_that_ends_in_time_backfills_and_others_do_not(self):
        firm = {"preemptible": False}
        with support.watch_jobs(self.namespace) as jobs:
            self.run_now(jobs, "runs", 4, run_for="20s", **firm, **estimate(20))
            code, said = self.simulate("first", 8, **firm)
            self.assertEqual((1, "Waits"), (code, said["outcome"]))
            first = self.submit("first", 8, **firm)
            expected = jobs.wait(lambda all_: all_.get(first, {}).get("status", {}).get("pending", {})
                                 .get("estimatedStartTime"), "the first has an expected start")
            self.assertEqual(said["status"]["pending"]["message"], pending(jobs, first)["message"], "the same message")
            self.assertLessEqual(abs(moment(said["expectedStart"]["time"]) - moment(expected)), 1)
            self.assertEqual(["runs"], [each["name"] for each in said["expectedStart"]["after"]])
            long = self.submit("long", 1, **firm, **estimate(300))
            self.assertIn("first", pending(jobs, long, "ReservedForOthers")["message"])
            # By its estimate alone a non-preemptible job does not backfill; by its deadline it does.
            stated = self.submit("stated", 1, **firm, **estimate(5))
            self.assertIn("first", pending(jobs, stated, "ReservedForOthers")["message"])
            self.run_now(jobs, "short", 1, run_for="2s", run={"activeDeadlineSeconds": 8}, **firm)
            wait_phase(jobs, self.namespace, "short", "Succeeded")
            self.assertEqual("Queued", phase(jobs.objects[first]))
            started = placed_at(wait_phase(jobs, self.namespace, "first", "Running"))
            self.assertLessEqual(abs(started - moment(expected)), 5)
            self.assertEqual("Queued", phase(jobs.objects[long]))


class Relaxation(SchedulingCase):
    def test_a_preferred_rack_is_given_up_in_time_and_a_required_one_never(self):
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            filled = [f"n000{i}" for i in (0, 1, 2, 4, 5, 6)]
            for node in filled:
                support.core().create_namespaced_pod(self.namespace, support.pod(f"on-{node}", 8, node=node))
            pods.wait(lambda all_: all(support.node_of(item) for item in all_.values()) and len(all_) == 6, "each rack has one node left")
            strict = self.submit("strict", 2, locality={"required": "rack"})
            pending(jobs, strict, "WaitingForTopology")
            prefers = self.submit("prefers", 2, locality={"levels": [{"level": "rack", "waitSeconds": 5}, {"level": "block"}]})
            said = jobs.wait(lambda all_: all_.get(prefers, {}).get("status", {}).get("pending", {}),
                             "it waits for a closer placement")
            self.assertEqual("WaitingForTopology", said["reason"])
            self.assertIn(f"accepts one block from {said['nextRelaxationTime'][:19]}", said["message"])
            started = wait_phase(jobs, self.namespace, "prefers", "Running")
            self.assertEqual(["n0003", "n0007"], nodes_of(started))
            self.assertGreaterEqual(placed_at(started), moment(said["nextRelaxationTime"]) - 1)
            support.finish(self.namespace, "prefers")
            wait_phase(jobs, self.namespace, "prefers", "Succeeded")
            pending(jobs, strict, "WaitingForTopology")
            self.assertFalse(any("placed" in item["status"].get("gang", {}) for _, item in jobs.events
                                 if item["metadata"]["name"] == "strict" and "status" in item))


class Charges(SchedulingCase):
    def test_pods_of_no_job_count_for_the_queue_of_their_namespace(self):
        kubectl("label", "namespace", self.namespace, "e2e-team=notebooks")
        self.create_queue("notebooks", limit={GPU: 8}, namespaceSelector={"matchLabels": {"e2e-team": "notebooks"}})
        queues = support.Recorder(custom().list_cluster_custom_object, GROUP, VERSION, QUEUES)
        with support.watch_jobs(self.namespace) as jobs, queues:
            support.core().create_namespaced_pod(self.namespace, support.pod("notebook", 4))
            queues.wait(lambda all_: all_[(None, "notebooks")].get("status", {}).get("usage", {}).get(GPU) == "4", "4 GPUs are held")
            key = self.submit("trains", 1, queue="notebooks")
            self.assertIn("> 8 nvidia.com/gpu", pending(jobs, key, "WaitingForQuota")["message"])
            kubectl("delete", "pod", "-n", self.namespace, "notebook", "--grace-period=0", "--force")
            wait_phase(jobs, self.namespace, "trains", "Running")

    def test_the_queue_that_used_less_is_served_first(self):
        for name in ("used", "fresh", "other"):
            self.create_queue(name)
        queues = support.Recorder(custom().list_cluster_custom_object, GROUP, VERSION, QUEUES)
        with support.watch_jobs(self.namespace) as jobs, queues:
            def await_status(test, what):
                queues.wait(lambda all_: test(all_[(None, "used")].get("status", {})), f"queue used {what}")
            self.run_now(jobs, "before", 8, queue="used")
            await_status(lambda status: status.get("usage", {}).get(GPU) == "64", "holds 64 GPUs")
            time.sleep(1)  # The test is about past use.
            support.finish(self.namespace, "before")
            await_status(lambda status: int(status.get("decayedUsage", {}).get(GPU, 0)) >= 64, "has used them")
            self.run_now(jobs, "between", 8, queue="other", preemptible=False)
            earlier = self.submit("earlier", 8, queue="used")
            pending(jobs, earlier)
            later = self.submit("later", 8, queue="fresh")
            pending(jobs, later)
            support.finish(self.namespace, "between")
            wait_phase(jobs, self.namespace, "later", "Running")
            self.assertFalse(holds(jobs.objects[earlier], "Scheduled"))


class ManagedByOthers(SchedulingCase):
    def test_a_copied_status_holds_no_nodes_here(self):
        """MultiKueue copies the status of the cluster that runs a job to the cluster where it was created."""
        with support.watch_jobs(self.namespace) as jobs:
            runs = self.run_now(jobs, "runs", 8)
            support.delete_job(self.namespace, "runs")
            jobs.wait(lambda all_: (self.namespace, "runs") not in all_, "the job is gone")
            self.submit("remote", 8, managedBy="kueue.x-k8s.io/multikueue")
            kubectl("patch", "tj", "-n", self.namespace, "remote", "--subresource=status", "--type=merge", "-p",
                    json.dumps({"status": runs["status"]}))
            jobs.wait(lambda all_: phase(all_.get((self.namespace, "remote"))) == "Running", "the status is copied")
            self.run_now(jobs, "local", 8)
            remote = jobs.objects[(self.namespace, "remote")]
            self.assertEqual(runs["status"]["gang"], remote["status"]["gang"])
            self.assertEqual([], remote["metadata"].get("finalizers", []))


class Simulate(SchedulingCase):
    def test_the_job_runs_on_the_nodes_that_it_names(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.run_now(jobs, "beside", 1)
            code, said = self.simulate("pair", 2, locality={"required": "rack"})
            self.assertEqual((0, "Starts", "rack"), (code, said["outcome"], said["level"]))
            self.assertNotIn((self.namespace, "pair"), jobs.objects)
            runs = self.run_now(jobs, "pair", 2, locality={"required": "rack"})
            self.assertEqual(sorted(each["node"] for each in said["places"]), nodes_of(runs))
            code, said = self.simulate("lost", 1, queue="nowhere")
            self.assertEqual((2, "Refused", "QueueNotFound"), (code, said["outcome"], said["status"]["pending"]["reason"]))
