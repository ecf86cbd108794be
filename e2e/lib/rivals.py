"""How soon one of two gangs that do not fit together is whole, and the other one after it has gone."""
import time

from .errors import E2EError
from .eyes import Eyes
from .measure import JOBS

_PATIENCE = 120


def rivals(api, make, names):
    """Seconds from the request for the first of the two make(name) until one is told to be placed, which it is when all
    its members are bound, and from the request that deletes that one until the other is. Only one may be before."""
    placed = set()

    def see(_, job):
        if (job.get("status", {}).get("gang") or {}).get("placed"):
            placed.add(job["metadata"]["name"])

    def late():
        return f"placed are {sorted(placed) or 'none'} of {', '.join(names)}"

    eyes = Eyes(api, JOBS, see)
    try:
        begin = time.monotonic()
        for name in names:
            api.call("POST", JOBS, make(name))
        eyes.wait(lambda: placed, _PATIENCE, late)
        first = time.monotonic() - begin
        if len(placed) > 1:
            raise E2EError(f"both are placed: {late()}")
        begin = time.monotonic()
        api.call("DELETE", f"{JOBS}/{next(iter(placed))}")
        eyes.wait(lambda: len(placed) == len(names), _PATIENCE, late)
        return first, time.monotonic() - begin
    finally:
        eyes.close()
