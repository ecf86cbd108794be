"""What each framework is given: the pods, files, keys and Events of examples/frameworks, read as the frameworks read them."""
import base64
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
import yaml
from lib.script import follow, script_of
from support import OPERATOR, core, given, kubectl, wait_phase

CLUSTER = {"nodes": 8}
EXAMPLES = support.ROOT / "examples" / "frameworks"
FOLDER = "/etc/trainyard/mpi"


def environment(container, config_maps):
    """The variables as a kubelet makes them: references are expanded with those before."""
    found = {}
    for each in container["env"]:
        if "valueFrom" in each:
            source = each["valueFrom"]["configMapKeyRef"]
            value = config_maps[source["name"]]["data"][source["key"]]
        else:
            value = each.get("value", "")
            for name, known in found.items():
                value = value.replace(f"$({name})", known)
        found[each["name"]] = value
    return found


def tasks(cluster):
    """{role: {index: host}} of a ClusterSpec, whose roles are lists or maps."""
    return {role: {int(i): host for i, host in (each.items() if isinstance(each, dict) else enumerate(each))}
            for role, each in cluster.items()}


class FrameworksTest(support.Case):
    def begin(self, file):
        """Applies an example; (its pods, their variables by pod, ConfigMaps, Secrets), once it is placed."""
        name = file
        body = follow(script_of(EXAMPLES), yaml.safe_load((EXAMPLES / f"{file}.yaml").read_text()))
        kubectl("apply", "-n", self.namespace, "-f", "-", input=json.dumps(body))
        count = sum(role.get("replicas", 1) for role in body["spec"]["roles"])
        with support.watch_pods(self.namespace) as pods:
            mine = pods.wait(lambda all_: len(support.members(all_, name)) == count and support.members(all_, name),
                             f"{file} has {count} pods")
        config_maps = {item["metadata"]["name"]: item
                       for item in given().json("get", "configmaps", "-n", self.namespace)["items"]}
        secrets = given().json("get", "secrets", "-n", self.namespace)["items"]
        env = {pod.removeprefix(f"{name}-"): environment(item["spec"]["containers"][0], config_maps)
               for pod, item in mine.items()}
        for pod in env.values():
            self.assertEqual((name, self.namespace), (pod["TRAINYARD_JOB"], pod["TRAINYARD_NAMESPACE"]))
        return mine, env, config_maps, secrets

    def end(self, file):
        """The job ends as its file states, though servers and workers run for ever."""
        with support.watch_jobs(self.namespace) as jobs:
            wait_phase(jobs, self.namespace, file, "Succeeded")
            item = jobs.objects[(self.namespace, file)]
        admitted = support.condition(item, "Admitted")
        self.assertNotIn("without effect", admitted["message"])

    def host(self, job, role, index=0):
        return f"{job}-{role}-{index}.{job}.{self.namespace}.svc"

    def test_pytorch(self):
        _, env, _, secrets = self.begin("pytorch")
        self.assertEqual([], secrets)
        for rank in range(2):
            mine = env[f"worker-{rank}"]
            self.assertEqual(
                {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "8", "PET_NODE_RANK": str(rank), "PET_MASTER_PORT": "29500",
                 "PET_MASTER_ADDR": self.host("pytorch", "worker")},
                {name: value for name, value in mine.items() if name.startswith("PET_")})
            self.assertEqual(("2", str(rank)), (mine["WORLD_SIZE"], mine["RANK"]))
        self.end("pytorch")

    def test_pytorch_c10d(self):
        _, env, _, _ = self.begin("pytorch-c10d")
        uid = support.get_job(self.namespace, "pytorch-c10d")["metadata"]["uid"]
        self.assertEqual(
            {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "8", "PET_RDZV_BACKEND": "c10d", "PET_RDZV_ID": uid,
             "PET_MAX_RESTARTS": "10", "PET_RDZV_CONF": "is_host=0",
             "PET_RDZV_ENDPOINT": f"{self.host('pytorch-c10d', 'worker')}:29400"},
            {name: value for name, value in env["worker-1"].items() if name.startswith("PET_")})
        self.end("pytorch-c10d")

    def test_tensorflow(self):
        _, env, _, _ = self.begin("tensorflow")
        workers = {i: f"{self.host('tensorflow', 'worker', i)}:2222" for i in range(3)}
        for role, index in [("worker", 0), ("worker", 2), ("evaluator", 0)]:
            config = json.loads(env[f"{role}-{index}"]["TF_CONFIG"])
            self.assertEqual({"worker": workers}, tasks(config["cluster"]))
            self.assertEqual({"type": role, "index": index}, config["task"])
        self.end("tensorflow")

    def test_tensorflow_parameter_servers(self):
        job = "tensorflow-ps"
        _, env, _, _ = self.begin(job)
        hosts = {role: {i: f"{self.host(job, role, i)}:2222" for i in range(count)}
                 for role, count in [("chief", 1), ("worker", 3), ("ps", 2)]}

        def seen(member):
            return tasks(json.loads(env[member]["TF_CONFIG"])["cluster"])
        self.assertEqual(hosts, seen("chief-0"))
        self.assertEqual({**hosts, "worker": {1: hosts["worker"][1]}}, seen("worker-1"))
        self.assertEqual({"chief": hosts["chief"], "ps": {1: hosts["ps"][1]}}, seen("ps-1"))
        self.end(job)

    def test_jax(self):
        _, env, _, _ = self.begin("jax")
        for i in range(4):
            mine = env[f"worker-{i}"]
            self.assertEqual((f"{self.host('jax', 'worker')}:1234", "4", str(i)), tuple(
                mine[f"JAX_{name}"] for name in ("COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID")))
        self.end("jax")

    def test_mxnet(self):
        _, env, _, _ = self.begin("mxnet")
        for member, mine in env.items():
            self.assertEqual((member.partition("-")[0], self.host("mxnet", "scheduler"), "9091", "2", "2"), tuple(
                mine[f"DMLC_{name}"] for name in ("ROLE", "PS_ROOT_URI", "PS_ROOT_PORT", "NUM_WORKER", "NUM_SERVER")))
        self.assertEqual("1", env["worker-1"]["DMLC_WORKER_ID"])
        self.end("mxnet")

    def test_custom_and_variables_of_its_own(self):
        _, env, _, _ = self.begin("custom")
        self.assertEqual(("1", "2", "2", "meet.example.com"), tuple(
            env["worker-1"][f"TRAINYARD_{name}"] for name in ("RANK", "SIZE", "REPLICAS", "COORDINATOR")))
        with support.Recorder(core().list_namespaced_event, self.namespace,
                              field_selector="involvedObject.name=custom") as events:
            found = events.wait(lambda all_: [each for each in all_.values() if each["reason"] == "OwnVariables"],
                                "an Event names the variable")
        self.assertEqual(1, len(found))
        self.assertIn("TRAINYARD_COORDINATOR (role worker)", found[0]["message"])
        self.end("custom")

    def test_mpi(self):
        pods, env, config_maps, secrets = self.begin("mpi")
        self.check_launched("mpi", pods, env, config_maps, secrets)
        self.end("mpi")
        kubectl("delete", "tj", "mpi", "-n", self.namespace, "--timeout=60s")
        with support.Recorder(core().list_namespaced_secret, self.namespace) as left:
            left.wait(lambda all_: not all_, "the keys went with the job")

    def test_horovod(self):
        pods, env, config_maps, secrets = self.begin("horovod")
        files = self.check_launched("horovod", pods, env, config_maps, secrets)
        self.assertEqual(f"{FOLDER}/discover_hosts.sh", env["launcher-0"]["TRAINYARD_DISCOVER_HOSTS"])
        self.assertEqual("600", env["launcher-0"]["HOROVOD_START_TIMEOUT"])
        with tempfile.TemporaryDirectory() as folder:
            hosts = Path(folder) / "hostfile"
            hosts.write_text("localhost slots=2\nno-such-host.invalid slots=2\n")
            script = files["discover_hosts.sh"].replace(f"{FOLDER}/hostfile", str(hosts))
            self.assertEqual("localhost:2\n", support.run(["/bin/sh", "-c", script]).stdout)
        self.end("horovod")

    def check_launched(self, job, pods, env, config_maps, secrets):
        uid = support.get_job(self.namespace, job)["metadata"]["uid"]
        [secret] = secrets
        self.assertEqual(f"{job}-ssh-{uid}", secret["metadata"]["name"])
        self.assertEqual(uid, secret["metadata"]["ownerReferences"][0]["uid"])
        keys = {name: base64.b64decode(value).decode() for name, value in secret["data"].items()}
        self.check_keys(keys)
        for line in keys["id"].splitlines()[1:-1] + keys["host_key"].splitlines()[1:-1]:
            self.assertNotIn(line, given().log(OPERATOR).read_text(), "a key is in the log")

        launcher = pods[f"{job}-launcher-0"]["spec"]
        volumes = {each["name"]: each for each in launcher["volumes"]}
        self.assertEqual(secret["metadata"]["name"], volumes["trainyard-ssh"]["secret"]["secretName"])
        files = config_maps[volumes["trainyard-files"]["configMap"]["name"]]["data"]
        workers = [self.host(job, "worker", i) for i in range(4)]
        self.assertEqual([f"{each} slots=2" for each in workers], files["hostfile"].splitlines())
        self.assertEqual([f"{each}:2" for each in workers], files["hosts.hydra"].splitlines())
        self.assertEqual(f"{FOLDER}/hostfile", env["launcher-0"]["OMPI_MCA_orte_default_hostfile"])
        self.assertEqual("8", env["launcher-0"]["TRAINYARD_PROCESSES"])
        self.assertEqual("", env["launcher-0"]["NVIDIA_VISIBLE_DEVICES"])

        [waits] = launcher["initContainers"]
        self.assertEqual((launcher["containers"][0]["image"], ["/bin/sh", f"{FOLDER}/wait.sh"]),
                         (waits["image"], waits["command"]))
        worker = pods[f"{job}-worker-3"]["spec"]["containers"][0]
        self.assertEqual(["/bin/sh", f"{FOLDER}/sshd.sh"], worker["command"])
        mounts = {each["mountPath"]: each.get("subPath") for each in worker["volumeMounts"]}
        self.assertEqual("ssh_config", mounts["/etc/ssh/ssh_config.d/trainyard.conf"])
        self.assertLessEqual({FOLDER, "/etc/trainyard/ssh", "/run/trainyard"}, set(mounts))
        for name, text in files.items():
            if name.endswith(".sh"):
                self.assertEqual(0, support.run(["/bin/sh", "-n"], input=text).returncode, name)
        return files

    def check_keys(self, keys):
        """As OpenSSH reads them: the public half of each private key is the one in the others' files."""
        public = {}
        with tempfile.TemporaryDirectory() as folder:
            for name in ("id", "host_key"):
                path = Path(folder) / name
                path.touch(mode=0o600)
                path.write_text(keys[name])
                public[name] = subprocess.run(["ssh-keygen", "-y", "-f", path], check=True, capture_output=True,
                                              text=True).stdout.split()[:2]
        self.assertEqual(keys["authorized_keys"].split()[:2], public["id"])
        self.assertEqual(keys["known_hosts"].split()[:3], ["trainyard", *public["host_key"]])
        self.assertNotEqual(public["id"], public["host_key"])


if __name__ == "__main__":
    unittest.main()
