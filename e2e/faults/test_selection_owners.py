"""The cases about deleted owners that every test run can afford, on one cluster. test_owner_deleted runs whole with
e2e/run --faults.
"""
import unittest

import selection

RUNS = "short"
CLUSTER = {"nodes": 4, "workloads": True}
CASES = (
    "test_owner_deleted.Jobs.test_reserved",
    "test_owner_deleted.Jobs.test_releasing",
    "test_owner_deleted.Jobs.test_preempted",
    "test_owner_deleted.JobsInForeground.test_running",
    "test_owner_deleted.Deployments.test_releasing",
)

load_tests = selection.only(CASES)

if __name__ == "__main__":
    unittest.main()
