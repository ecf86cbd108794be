"""How a real API server stores pods that follow the size of their job: membership, trainyard-launch, the job's
token."""
import json

import support
from support import condition, create_job, get_job, kubectl, members_now, wait_phase

CLUSTER = {"nodes": 2}
MEMBERSHIP = "trainyard.dev/membership"


def elastic(name, mode, command=None):
    body = support.job(name, replicas=2, gpus=1, checkpoint={"mode": mode, "gracePeriodSeconds": 45},
                       elastic={"role": "worker", "replicas": 2, "minReplicas": 1, "maxReplicas": 4})
    if command:
        body["spec"]["roles"][0]["template"]["spec"]["containers"][0]["command"] = command
    return body


class ElasticPods(support.Case):
    def setUp(self):
        super().setUp()
        self.jobs = self.enterContext(support.watch_jobs(self.namespace))

    def pods_of(self, body):
        create_job(self.namespace, body)
        wait_phase(self.jobs, self.namespace, body["metadata"]["name"], "Running")
        found = list(members_now(self.namespace, body["metadata"]["name"]).values())
        self.assertEqual(len(found), 2)
        for item in found:
            membership = json.loads(item["metadata"]["annotations"][MEMBERSHIP])
            self.assertEqual((membership["role"], membership["size"]), ("worker", 2))
            self.assertEqual(item["spec"]["terminationGracePeriodSeconds"], 45)
        return found

    def test_helper(self):
        for item in self.pods_of(elastic("helped", "Helper")):
            self.assertNotIn("initContainers", item["spec"])
            self.assertIn({"name": "trainyard-membership", "mountPath": "/etc/trainyard", "readOnly": True},
                          item["spec"]["containers"][0]["volumeMounts"])

    def test_launcher(self):
        found = self.pods_of(elastic("launched", "Launcher", ["python3", "train.py"]))
        for item in found:
            self.assertEqual([each["name"] for each in item["spec"]["initContainers"]], ["trainyard-launch"])
            self.assertEqual(item["spec"]["containers"][0]["command"],
                             ["/opt/trainyard/trainyard-launch", "exec", "--", "python3", "train.py"])
            env = {each["name"]: each.get("value") for each in item["spec"]["containers"][0]["env"]}
            self.assertEqual((env["WORLD_SIZE"], env["PET_NNODES"], env.get("PET_RDZV_BACKEND")), ("2", "2", None))
        uid = get_job(self.namespace, "launched")["metadata"]["uid"]
        secret = json.loads(kubectl("get", "secret", f"launched-launch-{uid}", "-n", self.namespace, "-o", "json"))
        # 64 hexadecimal digits in base64.
        self.assertEqual(len(secret["data"]["token"]), 88)
        self.assertEqual(secret["metadata"]["ownerReferences"][0]["uid"], uid)

    def test_an_image_that_starts_itself_is_refused(self):
        create_job(self.namespace, elastic("silent", "Launcher"))
        key = (self.namespace, "silent")
        self.jobs.wait(lambda all_: (condition(all_.get(key) or {}, "Admitted") or {}).get("status") == "False", "it is refused")
        said = condition(self.jobs.objects[key], "Admitted")
        self.assertEqual(said["reason"], "InvalidTemplate")
        self.assertIn("spec.containers[0].command: is required with checkpoint.mode Launcher", said["message"])
