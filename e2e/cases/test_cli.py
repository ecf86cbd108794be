"""The command line as people and scripts use it: every command against a real control plane, with its exit status."""
import json
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import support
from lib import relay
from support import given, job, kubectl, wait_phase

import yaml

CLUSTER = {"nodes": 4}
PROGRAM = Path(support.bin_dir()) / "cli" / "trainyard"


def trainyard(*args, code=0, **options):
    done = support.run([PROGRAM, *args], environment={"KUBECONFIG": str(given().kubeconfig)}, timeout=60, **options)
    if code is not None and done.returncode != code:
        raise AssertionError(f"trainyard {' '.join(args)}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout if not code else done.stderr


class CommandsTest(support.Case):
    def job_running(self, name, jobs, **spec):
        support.create_job(self.namespace, job(name, **spec))
        wait_phase(jobs, self.namespace, name, "Running")

    def test_a_jobs_life(self):
        space = ["-n", self.namespace]
        with support.watch_jobs(self.namespace) as jobs:
            self.job_running("life", jobs, replicas=2)
            self.assertIn("life is Running", trainyard("wait", "life", "--for=Running", *space))
            self.assertEqual("trainingjob.trainyard.dev/life\n", trainyard("status", "-o", "name", *space))
            found = yaml.safe_load(trainyard("status", "life", "-o", "yaml", *space))
            self.assertEqual(json.loads(trainyard("status", "life", "-o", "json", *space)).keys(), found.keys())
            self.assertIn("life", trainyard("top"))
            self.assertIn("life", [each["name"] for each in json.loads(trainyard("top", "-o", "json"))["items"]])
            story = trainyard("timeline", "life", *space)
            moments = json.loads(trainyard("timeline", "life", "-o", "json", *space))["moments"]
            self.assertEqual("Created", moments[0]["what"])
            self.assertEqual("trainingjob.trainyard.dev/life\n", trainyard("timeline", "life", "-o", "name", *space))
            self.assertLess(story.index("Created"), story.index("Running"))
            trainyard("suspend", "life", *space)
            self.assertIn("is Suspended", trainyard("wait", "life", "--for=Suspended", *space))
            trainyard("resume", f"{self.namespace}/life")
            wait_phase(jobs, self.namespace, "life", "Running")
            support.finish(self.namespace, "life")
            self.assertIn("is Finished", trainyard("wait", "life", *space))
            self.assertIn("will not be Running", trainyard("wait", "life", "--for=Running", *space, code=1))

    def test_waiting_has_an_end(self):
        support.create_job(self.namespace, job("large", replicas=64))
        self.assertIn("is not Running after 1 s",
                      trainyard("wait", "large", "--for=Running", "--timeout=1", "-n", self.namespace, code=3))

    def test_nodes_show_the_gangs_on_them(self):
        with support.watch_jobs(self.namespace) as jobs:
            self.job_running("here", jobs, replicas=1, gpus=8)
            text = trainyard("nodes")
            self.assertIn(f"{self.namespace}/here", text)
            self.assertIn("4 nodes, 8 of 32 GPUs used", text)
            node = text.splitlines()[1].split()[0]
            listed = json.loads(trainyard("nodes", "-o", "json"))
            self.assertEqual((32, 8), (listed["gpus"], listed["usedGpus"]))
            self.assertEqual(listed, yaml.safe_load(trainyard("nodes", "-o", "yaml")))
            self.assertEqual(4, trainyard("nodes", "-o", "name").count("node/"))
            used = next(each for each in listed["items"] if each["usedGpus"])
            gangs = json.loads(trainyard("drain", used["name"], "--dry-run", "-o", "json", code=None))
            self.assertEqual((False, "here", False), (gangs["unschedulable"], gangs["items"][0]["name"], gangs["items"][0]["left"]))
            kubectl("cordon", node)
            self.addCleanup(kubectl, "uncordon", node)
            support.await_value(lambda: trainyard("nodes"), lambda text: "cordoned" in text, "it is shown as cordoned")

    def test_a_proxy_or_an_ipv6_address_leads_to_the_api_server(self):
        def with_cluster(**changes):
            config = yaml.safe_load(Path(given().kubeconfig).read_text())
            config["clusters"][0]["cluster"].update(changes)
            path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "kubeconfig"
            path.write_text(yaml.safe_dump(config))
            return f"--kubeconfig={path}"

        server = urlsplit(yaml.safe_load(Path(given().kubeconfig).read_text())["clusters"][0]["cluster"]["server"])
        with relay.proxy() as proxy:
            self.assertIn("4 nodes", trainyard("nodes", with_cluster(**{"proxy-url": proxy.url})))
            self.assertEqual({server.netloc}, set(proxy.asked))
        with relay.to((server.hostname, server.port), host="::1") as six:
            flag = with_cluster(**{"server": f"https://[::1]:{six.port}", "tls-server-name": "kubernetes"})
            self.assertIn("4 nodes", trainyard("nodes", flag))

    def test_watching_prints_what_changes(self):
        command = subprocess.Popen([PROGRAM, "status", "-w", "-n", self.namespace], text=True, stdout=subprocess.PIPE,
                                   env={**support.processes.environment(), "KUBECONFIG": str(given().kubeconfig)})
        try:
            self.assertIn("No TrainingJobs", command.stdout.readline())
            support.create_job(self.namespace, job("fresh", replicas=1))
            while "fresh" not in command.stdout.readline():
                self.assertIsNone(command.poll())
        finally:
            command.terminate()
            command.communicate(timeout=support.PATIENCE)

    def test_logs_are_read_of_the_member_with_the_rank(self):
        """Simulated nodes have no logs: the kubelet's address is refused, and the message names the pod."""
        with support.watch_jobs(self.namespace) as jobs:
            self.job_running("ranked", jobs, replicas=2)
        self.assertIn("ranked-worker-1", trainyard("logs", "ranked", "--rank=1", "-n", self.namespace, code=1))
        self.assertIn("ranked-worker-0", trainyard("logs", "ranked", "--all", "-n", self.namespace, code=1))
        self.assertIn("has no rank 2", trainyard("logs", "ranked", "--rank=2", "-n", self.namespace, code=1))

    def test_acting_as_another_user(self):
        support.create_job(self.namespace, job("theirs", replicas=1))
        self.assertIn("forbidden", trainyard("status", "-n", self.namespace, "--as=nobody", code=1))
        kubectl("create", "role", "reader", "-n", self.namespace, "--verb=get,list", "--resource=trainingjobs.trainyard.dev")
        kubectl("create", "rolebinding", "reader", "-n", self.namespace, "--role=reader", "--user=somebody")
        self.assertIn("theirs", trainyard("status", "-n", self.namespace, "--as=somebody"))

    def test_names_of_the_cluster_are_completed(self):
        support.create_job(self.namespace, job("completed", replicas=1))
        def complete(*words):
            return trainyard("__complete", *words).split()
        self.assertEqual(["completed"], complete("logs", "-n", self.namespace, "comp"))
        self.assertEqual([f"{self.namespace}/completed"], complete("status", f"{self.namespace}/"))
        self.assertIn(self.namespace, complete("status", "-n", ""))
        self.assertEqual(4, len(complete("drain", "")))
        queue = {"apiVersion": f"{support.GROUP}/{support.VERSION}", "kind": "Queue", "metadata": {"name": "complete-me"}, "spec": {}}
        kubectl("create", "-f", "-", input=json.dumps(queue))
        self.addCleanup(kubectl, "delete", "queue.trainyard.dev", "complete-me")
        self.assertEqual(["complete-me"], complete("queues", "comp"))
        self.assertEqual([], complete("status", "--as=nobody", ""))
        self.assertEqual([], complete("status", "--kubeconfig=/nowhere", ""))
        script = trainyard("completion", "bash")
        asked = (f"{script}\nCOMP_WORDS=({PROGRAM} explain --namespace = {self.namespace} '') COMP_CWORD=5; _trainyard; "
                 "echo \"${COMPREPLY[*]}\"")
        self.assertEqual("completed\n", support.run(["bash", "-c", asked],
                                                    environment={"KUBECONFIG": str(given().kubeconfig)}).stdout)

    def test_a_support_bundle_holds_no_secret(self):
        kubectl("create", "secret", "generic", "mine", "-n", self.namespace, "--from-literal=key=hunter22")
        body = job("secretive", replicas=1)
        container = body["spec"]["roles"][0]["template"]["spec"]["containers"][0]
        container.update(env=[{"name": "API", "value": "hunter22"}], args=["--password=hunter22"])
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, "secretive", "Running")
        # As the chart makes it where agents are turned on.
        kubectl("create", "namespace", "trainyard-agent")
        self.addCleanup(kubectl, "delete", "namespace", "trainyard-agent", "--wait=false")
        agent = {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "agent-x1", "namespace": "trainyard-agent", "labels": {"app.kubernetes.io/part-of": "trainyard"}},
                 "spec": {"nodeName": "nowhere", "containers": [{"name": "agent", "image": "agent:1"}]}}
        kubectl("create", "-f", "-", input=json.dumps(agent))
        path = given().dir / "bundle.tar"
        self.assertIn("files", trainyard("support-bundle", f"--file={path}"))
        with tarfile.open(path) as bundle:
            texts = {item.name: bundle.extractfile(item).read().decode() for item in bundle.getmembers()}
        self.assertIn("secretive", texts["trainyard-support/trainingjobs.json"])
        self.assertIn("secretive-worker-0", texts["trainyard-support/pods-of-jobs.json"])
        self.assertIn("agent-x1", texts["trainyard-support/agents/pods.json"])
        for name, text in texts.items():
            self.assertNotIn("hunter22", text, name)
            if name.endswith(".json"):
                json.loads(text)


class UsageTest(unittest.TestCase):
    def test_mistakes_exit_with_two(self):
        for args in ([], ["no-such-command"], ["status", "--no-such-flag"], ["wait"], ["wait", "a", "--for=Sometime"],
                     ["status", "-o", "xml"], ["logs", "a", "--rank=1", "--role=ps"], ["completion", "csh"]):
            with self.subTest(args):
                trainyard(*args, code=2)
        trainyard("--help")
        self.assertIn("trainyard ", trainyard("--version"))

    def test_shells_read_the_completion(self):
        for shell in ("bash", "zsh", "fish"):
            script = trainyard("completion", shell)
            self.assertIn("support-bundle", script)
            if shell == "bash":
                asked = f"{script}\nCOMP_WORDS=(trainyard sus) COMP_CWORD=1; _trainyard; echo \"${{COMPREPLY[*]}}\""
                self.assertEqual("suspend\n", support.run(["bash", "-c", asked]).stdout)
                asked = f"{script}\nCOMP_WORDS=(trainyard wait --tim) COMP_CWORD=2; _trainyard; echo \"${{COMPREPLY[*]}}\""
                self.assertEqual("--timeout\n", support.run(["bash", "-c", asked]).stdout)

    def test_replays_give_the_figures_of_their_page(self):
        page = (support.ROOT / "docs" / "replay.md").read_text()
        for row, options in [("ours, nothing known", []), ("ours, durations known", ["--with-durations"])]:
            figures = next(line for line in page.splitlines() if line.startswith(f"| {row} |")).split(" | ")[2:]
            for trace, figure in zip((1, 3), figures):
                result = json.loads(support.run([
                    PROGRAM, "replay", "--format", "muri", "--jobs", support.ROOT / "tests" / "traces" / "muri" / f"trace{trace}.csv",
                    "--cluster", "8x8", "--policy", "default", "--checkpoint", "share=1", "-o", "json", *options], timeout=120).stdout)
                self.assertEqual(figure.split(" ")[0], f"{result['meanCompletionSeconds']:,.0f}", f"{row}, trace {trace}")

    def test_converted_jobs_are_accepted_by_the_api_server(self):
        pod = {"spec": {"restartPolicy": "OnFailure", "containers": [
            {"name": "c", "image": "i", "resources": {"limits": {support.GPU: 8}}}]}}
        jobs = [
            {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"}, "spec": {
                "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 3}, "pytorchReplicaSpecs": {
                    "Master": {"replicas": 1, "template": pod}, "Worker": {"replicas": 3, "template": pod}}}},
            {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "b"}, "spec": {
                "elasticPolicy": {"minReplicas": 1, "maxReplicas": 4, "rdzvBackend": "c10d"},
                "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": pod}}}},
            {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "c"}, "spec": {
                "runtimeRef": {"name": "torch-distributed"}, "trainer": {
                    "image": "i", "numNodes": 2, "resourcesPerNode": {"limits": {support.GPU: 8}}}}},
            {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "d"}, "spec": {
                "minAvailable": 3, "schedulerName": "volcano", "plugins": {"svc": [], "ssh": []}, "maxRetry": 2, "tasks": [
                    {"name": "mpi-master", "replicas": 1, "template": pod,
                     "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]},
                    {"name": "mpi-worker", "replicas": 2, "template": pod}]}}]
        # The last one's plug-in ssh has no counterpart there: it is named, and the exit status says so.
        def converted(*flags, **options):
            done = support.run([PROGRAM, "convert", *flags, "-f", "-"], timeout=60, **options)
            return done.returncode, done.stdout

        status, text = converted(input=yaml.safe_dump_all(jobs))
        self.assertEqual(4, status)
        self.assertEqual((1, ""), converted("--strict", input=yaml.safe_dump_all(jobs)))
        # As `kubectl get -o yaml` writes several, and with what else stands in people's files.
        data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "data"}}
        _, listed = converted(input=yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [*jobs, data]}))
        self.assertEqual([*yaml.safe_load_all(text), data], list(yaml.safe_load_all(listed)))
        self.assertEqual(4, len(list(yaml.safe_load_all(text))))
        said = kubectl("apply", "--dry-run=server", "--validate=strict", "-n", "default", "-f", "-", input=text)
        self.assertEqual(4, said.count("(server dry run)"), said)
        self.assertIn("cannot be converted",
                      trainyard("convert", "-f", "-", code=1,
                                input=yaml.safe_dump({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}})))
