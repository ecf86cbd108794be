"""Nodes whose GPUs come from a device plugin and which have a channel of an NVLink domain each, as ComputeDomains give out:
two members on one node would need two channels.
"""
import support
from device_case import DeviceCase, device_class, node_slice
from support import wait_phase

CLUSTER = {"nodes": 6, "shape": {"gpus": 4}, "devices": True}
CHANNELS = "channels.example.com"
CLASS = "channel.example.com"


class Channels(DeviceCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        device_class(CLASS, f'device.driver == "{CHANNELS}"')
        for node in ("n0000", "n0001", "n0002", "n0003"):
            node_slice(node, [{"name": "channel-0"}], CHANNELS)

    def nodes_of(self, jobs, name):
        job = wait_phase(jobs, self.namespace, name, "Running")
        return sorted(each["node"] for each in job["status"]["gang"]["placed"]["assignments"])

    def test_members_with_half_a_node_each_get_a_channel_each(self):
        self.template("channel", (CLASS, 1, None))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("half", "channel", 2, gpus=2)
            found = self.nodes_of(jobs, "half")
        self.assertEqual(2, len(set(found)), found)
        self.assertLessEqual(set(found), {"n0000", "n0001", "n0002", "n0003"})

    def test_members_with_whole_nodes_pass_over_nodes_without_a_channel(self):
        self.template("channel", (CLASS, 1, None))
        with support.watch_jobs(self.namespace) as jobs:
            self.claiming("whole", "channel", 4, gpus=4)
            self.assertEqual(["n0000", "n0001", "n0002", "n0003"], self.nodes_of(jobs, "whole"))

    def test_a_pod_of_others_is_kept_off_reserved_channels(self):
        self.template("channel", (CLASS, 1, None))
        with support.watch_jobs(self.namespace) as jobs, support.watch_pods(self.namespace) as pods:
            self.foreign("first", "channel", "n0000")
            pods.wait(lambda all_: all_.get((self.namespace, "first"), {}).get("spec", {}).get("nodeName"), "first is bound")
            self.claiming("three", "channel", 3, gpus=4)
            self.assertEqual(["n0001", "n0002", "n0003"], self.nodes_of(jobs, "three"))
