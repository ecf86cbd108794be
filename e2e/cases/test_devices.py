"""Gangs whose devices come from DRA: placed where the devices are, waiting with numbers, preempted and preempting."""
import support
from device_case import DRIVER, DeviceCase, device, device_class, memory, node_slice
from support import GPU, kubectl, wait_phase

CLUSTER = {"nodes": 6, "shape": {"gpus": 0}, "devices": True}


def pending(jobs, namespace, name, reason):
    def found(all_):
        waits = all_.get((namespace, name), {}).get("status", {}).get("pending")
        return waits if waits and waits["reason"] == reason else None
    return jobs.wait(found, f"{name} waits: {reason}")


class Devices(DeviceCase):
    """n0000 and n0001 have 4 devices of 80 GiB each, n0002 and n0003 have 8 of 40 GiB, the others none."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        device_class(DRIVER)
        for node in ("n0000", "n0001"):
            node_slice(node, [device(f"gpu-{i}") for i in range(4)])
        for node in ("n0002", "n0003"):
            node_slice(node, [device(f"gpu-{i}", "40Gi") for i in range(8)])

    def places(self, item):
        return sorted(each["node"] for each in item["status"]["gang"]["placed"]["assignments"])

    def test_a_gang_of_claims_runs_where_the_devices_are(self):
        self.template("pair", (DRIVER, 2, memory("80Gi")))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("bert", "pair", 3)
            job = wait_phase(jobs, self.namespace, "bert", "Running")
        self.assertLessEqual(set(self.places(job)), {"n0000", "n0001"})

    def test_waits_with_numbers(self):
        self.template("quads", (DRIVER, 4, memory("80Gi")))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("large", "quads", 3)
            waits = pending(jobs, self.namespace, "large", "TooLarge")
        self.assertIn(f"4 {DRIVER}[memory >= 80Gi] each", waits["message"])

    def test_is_refused_what_cannot_be_promised(self):
        self.template("all", (DRIVER, 1, None), constraints=[{"requests": ["r0"], "matchAttribute": f"{DRIVER}/numa"}])
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("numa", "all", 2)
            waits = pending(jobs, self.namespace, "numa", "UnusableDeviceClaim")
        self.assertIn("ResourceClaimTemplate all: devices.constraints: devices that depend on each other", waits["message"])

    def test_preempts_and_comes_back(self):
        self.template("whole", (DRIVER, 4, memory("80Gi")))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("low", "whole", 2)
            wait_phase(jobs, self.namespace, "low", "Running")
            self.claiming("high", "whole", 1, priorityClassName="e2e-urgent")
            wait_phase(jobs, self.namespace, "high", "Running")
            wait_phase(jobs, self.namespace, "low", "Queued")
            support.delete_job(self.namespace, "high")
            wait_phase(jobs, self.namespace, "low", "Running")


class Extended(DeviceCase):
    """A class stands for nvidia.com/gpu: jobs that never heard of DRA get its devices."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        device_class("gpus.example.com", 'device.driver == "ext.example.com"', extended=GPU)
        for node in ("n0004", "n0005"):
            node_slice(node, [device(f"gpu-{i}") for i in range(8)], "ext.example.com")

    @classmethod
    def tearDownClass(cls):
        kubectl("delete", "deviceclass", "gpus.example.com")
        super().tearDownClass()

    def test_a_gang_of_extended_resources_runs(self):
        with support.watch_jobs(self.namespace) as jobs:
            support.create_job(self.namespace, support.job("plain", replicas=2, gpus=8))
            job = wait_phase(jobs, self.namespace, "plain", "Running")
        self.assertEqual(["n0004", "n0005"], sorted(e["node"] for e in job["status"]["gang"]["placed"]["assignments"]))

    def test_claims_of_the_class_and_the_extended_resource_share_the_devices(self):
        self.template("four", ("gpus.example.com", 4, None))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("claims", "four", 2)
            wait_phase(jobs, self.namespace, "claims", "Running")
            support.create_job(self.namespace, support.job("rest", replicas=2, gpus=4))
            wait_phase(jobs, self.namespace, "rest", "Running")
            support.create_job(self.namespace, support.job("more", replicas=1, gpus=4))
            waits = pending(jobs, self.namespace, "more", "WaitingForCapacity")
            self.assertIn("4 nvidia.com/gpu", waits["message"])
            self.assertEqual("8", kubectl("get", "tj", "claims", "-n", self.namespace, "-o", "wide", "--no-headers").split()[4])
