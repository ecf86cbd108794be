"""PyTorch on real nodes gets other sizes while it trains: in its processes by the helper, in its pods by the launcher."""
import json
import os
import re
import subprocess
import threading

import pods
import support
from lib import processes, programimage, trainimage, trainyard
from lib.progress import Progress
from support import kubectl, wait_phase

CLUSTER = "shared"
# Four interpreters that load PyTorch, one after the other, on a machine that is busy.
TRAINING_SECONDS = 420
STEPS = 1200
MARKER = "trainyard-progress: "


class Elastic(support.Case):
    @classmethod
    def setUpClass(cls):
        given = support.given()
        given.load_image(trainimage.archive(Progress()))
        image = given.dir / "launch.tar"
        programimage.make(trainyard.launcher(os.environ["TRAINYARD_E2E_BIN"]), image, trainyard.LAUNCH_IMAGE)
        given.load_image(image)

    def setUp(self):
        super().setUp()
        self.jobs = self.enterContext(support.watch_jobs(self.namespace))
        self.pods = self.enterContext(support.watch_pods(self.namespace))
        code = {path.name: path.read_text() for path in (
            support.ROOT / "examples" / "trainyard_elastic.py", support.ROOT / "tests" / "launch" / "toy_training.py",
            support.ROOT / "tests" / "launch" / "plain_training.py")}
        support.core().create_namespaced_config_map(self.namespace, {"metadata": {"name": "code"}, "data": code})

    def start(self, name, mode, program):
        """A job of two members of one GPU each, with at most four members."""
        body = support.job(name, replicas=2, gpus=1, checkpoint={"mode": mode, "gracePeriodSeconds": 20},
                           elastic={"role": "worker", "replicas": 2, "minReplicas": 2, "maxReplicas": 4})
        spec = body["spec"]["roles"][0]["template"]["spec"]
        spec["nodeSelector"] = dict([pods.LIVE])
        spec["volumes"] = [{"name": "code", "configMap": {"name": "code"}}]
        spec["containers"][0].update(
            image=trainimage.NAME, imagePullPolicy="Never", command=["python3", f"/code/{program}"],
            env=[{"name": "STEPS", "value": str(STEPS)}, {"name": "PACE", "value": "0.05"},
                 {"name": "CHECKPOINT", "value": "/tmp/last.pt"}],
            volumeMounts=[{"name": "code", "mountPath": "/code"}])
        support.create_job(self.namespace, body)
        wait_phase(self.jobs, self.namespace, name, "Running", timeout=TRAINING_SECONDS)

    def reports(self, name):
        log = kubectl("logs", "-n", self.namespace, f"{name}-worker-0")
        return [json.loads(line[len(MARKER):]) for line in log.splitlines() if line.startswith(MARKER)]

    def wait_trains_with(self, name, replicas):
        """Follows the log until the newest step was made with so many members."""
        given = support.given()
        argv = [given.tools["kubectl"], f"--kubeconfig={given.kubeconfig}", "logs", "-f", "--tail=1", "-n", self.namespace,
                f"{name}-worker-0"]
        follower = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=processes.environment())
        limit = threading.Timer(TRAINING_SECONDS, follower.kill)
        limit.start()
        try:
            for line in follower.stdout:
                if line.startswith(MARKER) and json.loads(line[len(MARKER):])["replicas"] == replicas:
                    return
        finally:
            limit.cancel()
            follower.kill()
            follower.wait()
            follower.stdout.close()
        self.fail(f"{name} did not train with {replicas}: {kubectl('logs', '-n', self.namespace, f'{name}-worker-0')[-2000:]}")

    def scale(self, name, replicas):
        kubectl("scale", f"tj/{name}", "-n", self.namespace, f"--replicas={replicas}")
        self.wait_trains_with(name, replicas)

    def check(self, name, mode, program):
        self.start(name, mode, program)
        self.wait_trains_with(name, 2)
        before = {key: item["metadata"]["uid"] for key, item in support.members(self.pods.objects, name).items()}
        self.scale(name, 4)
        self.scale(name, 2)
        wait_phase(self.jobs, self.namespace, name, "Succeeded", timeout=TRAINING_SECONDS)
        # The same two pods all the time.
        for key, uid in before.items():
            self.assertEqual(self.pods.objects[key if isinstance(key, tuple) else (self.namespace, key)]["metadata"]["uid"], uid)
        said = self.reports(name)
        steps = [each["step"] for each in said]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual(steps[-1], STEPS)
        self.assertLess(said[-1]["loss"], said[0]["loss"] / 2)
        pauses = [(each["replicas"], each["pauseMillis"]) for each in said if "pauseMillis" in each]
        self.assertEqual([size for size, _ in pauses], [4, 2])
        for size, millis in pauses:
            print(f"{mode}: pause of the change to {size} members: {millis} ms", flush=True)

    def test_helper(self):
        self.check("helper", "Helper", "toy_training.py")

    def test_launcher(self):
        self.check("launcher", "Launcher", "plain_training.py")
        # Its token is the job's own.
        secrets = json.loads(kubectl("get", "secrets", "-n", self.namespace, "-o", "json"))["items"]
        self.assertTrue(any(re.match("launcher-launch-", each["metadata"]["name"]) for each in secrets))
