"""How soon a job that is pending reports why: from the request that creates it to the condition in a watch."""
import time

from .errors import E2EError
from .eyes import Eyes
from .measure import JOBS

_PATIENCE = 60


def seconds_to_reason(api, make, names):
    """For each name in turn: seconds from creating make(name) until a watcher knows why it waits. And the last
    such reason and message."""
    said = {}

    def see(now, job):
        for condition in job.get("status", {}).get("conditions", []):
            if condition["type"] == "Scheduled" and condition["status"] == "False" and condition.get("message"):
                said.setdefault(job["metadata"]["name"], (now, condition["reason"], condition["message"]))

    eyes = Eyes(api, JOBS, see)
    try:
        taken = []
        for name in names:
            begin = time.monotonic()
            api.call("POST", JOBS, make(name))
            eyes.wait(lambda: name in said, _PATIENCE, lambda: f"job {name} has not said why it waits")
            at, reason, message = said[name]
            if not reason:
                raise E2EError(f"job {name} waits without a reason: {message}")
            taken.append(at - begin)
            # Each from rest, as people come.
            time.sleep(0.2)
        return taken, f"{reason}: {message}"
    finally:
        eyes.close()
