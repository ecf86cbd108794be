"""How soon one of two gangs that do not fit together is whole, and the other one after it has gone."""
import time

from .errors import E2EError
from .eyes import Eyes
from .measure import JOBS, PODS

_PATIENCE = 120


def rivals(api, make, names, members):
    """Seconds from the request for the first of the two make(name) until all members of one are bound, and from
    the request that deletes that one until all of the other are. No member of the other may be bound before."""
    bound = {name: set() for name in names}

    def see(_, pod):
        owner = pod["metadata"].get("labels", {}).get("trainyard.dev/job-name")
        if owner in bound and pod["spec"].get("nodeName"):
            bound[owner].add(pod["metadata"]["uid"])

    def whole():
        return next((name for name in names if len(bound[name]) == members), None)

    eyes = Eyes(api, PODS, see)
    try:
        begin = time.monotonic()
        for name in names:
            api.call("POST", JOBS, make(name))
        eyes.wait(lambda: whole() is not None, _PATIENCE, lambda: f"bound are {counts(bound)}")
        first = time.monotonic() - begin
        winner = whole()
        other = next(name for name in names if name != winner)
        if bound[other]:
            raise E2EError(f"bound are {counts(bound)}: the gang that does not fit has places")
        begin = time.monotonic()
        api.call("DELETE", f"{JOBS}/{winner}")
        eyes.wait(lambda: len(bound[other]) == members, _PATIENCE, lambda: f"bound are {counts(bound)}")
        return first, time.monotonic() - begin
    finally:
        eyes.close()


def counts(bound):
    return ", ".join(f"{len(pods)} of {name}" for name, pods in bound.items())
