"""The cases about nodes, admission, endings, spoofing and foreign pods that every test run can afford, on one cluster.
The files themselves run whole with e2e/run --faults.
"""
import unittest

import selection

RUNS = "short"
CLUSTER = {"nodes": 6}
CASES = (
    "test_nodes.Nodes.test_creating_deleted",
    "test_nodes.Nodes.test_releasing_unready",
    "test_nodes.Nodes.test_released_cordoned",
    "test_nodes.Nodes.test_running_unready",
    "test_nodes.Nodes.test_running_shrunk",
    "test_nodes.Nodes.test_running_drained",
    "test_admission.Enlarged.test_sidecar_one_a_node",
    "test_admission.Enlarged.test_enlarged_while_waiting",
    "test_admission.TakenNames.test_pod",
    "test_admission.Edited.test_between_pods_and_release",
    "test_endings.Deleted.test_releasing",
    "test_endings.Members.test_restart",
    "test_endings.Members.test_replace",
    "test_endings.Stuck.test_restart_waits_for_a_terminating_member",
    "test_spoofing.Spoofing.test_onto_reserved_nodes",
    "test_spoofing.Spoofing.test_no_pod_takes_a_node_with_forged_labels",
    "test_foreign_pods.ForeignPods.test_extender_killed",
)

load_tests = selection.only(CASES)

if __name__ == "__main__":
    unittest.main()
