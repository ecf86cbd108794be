"""The cases about deleted owners that every test run can afford, on one cluster. test_owner_deleted runs whole with
e2e/run --faults.
"""
import fnmatch
import unittest

RUNS = "short"
CLUSTER = {"nodes": 4, "workloads": True}
CASES = (
    "test_owner_deleted.Jobs.test_reserved",
    "test_owner_deleted.Jobs.test_releasing",
    "test_owner_deleted.Jobs.test_preempted",
    "test_owner_deleted.JobsInForeground.test_running",
    "test_owner_deleted.Deployments.test_releasing",
)


def load_tests(loader, *_):
    patterns = loader.testNamePatterns or ["*"]
    chosen = [name for name in CASES if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    loader.testNamePatterns = None
    return loader.loadTestsFromNames(chosen)


if __name__ == "__main__":
    unittest.main()
