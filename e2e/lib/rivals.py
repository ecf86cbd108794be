"""How soon one of two gangs that do not fit together is whole, and the other one after it has gone."""
import time

from . import kwok
from .errors import E2EError
from .measure import JOBS, PODS

_PATIENCE = 120
# Between two looks, of some 10 ms of CPU each. A watch would say it sooner, but the API server cuts off whoever does
# not keep up with so many pods, as this program does not.
_PAUSE = 0.1


def rivals(api, make, names, members):
    """Seconds from the request for the first of the two make(name) until all members of one are bound, and from the
    request that deletes that one until all of the other are. No member of the other may be before."""
    def bound(name):
        pods = api.get(f"{PODS}?resourceVersion=0&labelSelector=trainyard.dev/job-name%3D{name}")["items"]
        return sum(1 for pod in pods if pod["spec"].get("nodeName"))

    def await_whole(some, begin):
        counts = {}

        def whole():
            counts.update({name: bound(name) for name in some})
            return members in counts.values()

        kwok.poll(whole, _PATIENCE, lambda: f"bound are {counts} of {members}", pause=_PAUSE)
        return time.monotonic() - begin, counts

    begin = time.monotonic()
    for name in names:
        api.call("POST", JOBS, make(name))
    first, counts = await_whole(names, begin)
    loser, winner = sorted(names, key=counts.get)
    if counts[loser]:
        raise E2EError(f"bound are {counts} of {members}, and both do not fit")
    begin = time.monotonic()
    api.call("DELETE", f"{JOBS}/{winner}")
    second, _ = await_whole([loser], begin)
    return first, second
