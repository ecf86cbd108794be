"""What must hold at every moment during any fault: checked from outside, by the watches of the official
client.

    with Invariants(cluster.kubeconfig) as seen:
        ...
        seen.wait(lambda: seen.phase("ns", "a") == "Running", "a runs")   # raises what was violated meanwhile
        seen.settled()                                                    # nothing is on its way: stricter
        seen.gone("ns")                                                   # nothing is left
    # leaving the block raises the first violation

Jobs are TrainingJobs, and Gangs with the pods that were released to their places. Checked at every event of every pod:
- no node holds more than its allocatable, by pods that are bound to it and have not ended;
- no two gangs are released to the same capacity: the members that are bound or pinned to a node fit it together;
- no member is doubled: of one job, epoch, role and index at most one pod is ever bound, and the bound members
  of a job whose gang restarts as a whole are of one epoch. A place of a Gang goes from a lost pod to another: no two
  pods that have not ended have it at a time.
From time to time: no gang stays half bound, and no pod outlives its job, for longer than bound_seconds.
Watches that break are started again by a list, whose differences count as events.
"""
import collections
import contextlib
import json
import socket
import threading
import time

from kubernetes import client, config

GROUP, VERSION, JOBS, GANGS = "trainyard.dev", "v1alpha1", "trainingjobs", "gangs"
_LABEL = "trainyard.dev/"
GATE = _LABEL + "gang"
_TAIL = 120
_SUFFIXES = {"m": 10**-3, "": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20,
             "Gi": 2**30, "Ti": 2**40}


class Violation(AssertionError):
    """Something that must never be was seen."""


# ---- what is read off objects

def key_of(item):
    return item["metadata"].get("namespace"), item["metadata"]["name"]


def uid_of(item):
    return item["metadata"]["uid"]


def version_of(item):
    return int(item["metadata"]["resourceVersion"])


def label(item, name):
    return item["metadata"].get("labels", {}).get(_LABEL + name)


def owner_of(pod):
    """uid of the TrainingJob that controls the pod; None for foreign pods."""
    for each in pod["metadata"].get("ownerReferences", []):
        if each.get("controller") and each["kind"] == "TrainingJob" and each["apiVersion"].startswith(GROUP):
            return each["uid"]
    return None


def node_of(pod):
    return pod["spec"].get("nodeName")


def ended(pod):
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def gated(pod):
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates", []))


def pinned_to(pod):
    """The node to which a member is released; None while it is gated, and for a pod that is not pinned."""
    if gated(pod):
        return None
    required = (pod["spec"].get("affinity", {}).get("nodeAffinity", {})
                .get("requiredDuringSchedulingIgnoredDuringExecution", {}))
    for term in required.get("nodeSelectorTerms", []):
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name" and field["operator"] == "In" and len(field["values"]) == 1:
                return field["values"][0]
    return None


def amount(text):
    text = str(text)
    digits = text.rstrip("kMGTim")
    return float(digits) * _SUFFIXES[text[len(digits):]]


def requests(pod):
    """What the pod takes of its node: {resource: amount}, one pod included."""
    total, first = collections.Counter(pods=1), collections.Counter()
    for each in pod["spec"]["containers"]:
        total.update(_of_container(each))
    for each in pod["spec"].get("initContainers", []):
        wants = _of_container(each)
        if each.get("restartPolicy") == "Always":
            total.update(wants)
        else:
            first |= wants
    for name, value in first.items():
        total[name] = max(total[name], value)
    total.update({name: amount(value) for name, value in pod["spec"].get("overhead", {}).items()})
    return total


def _of_container(container):
    wants = container.get("resources", {}).get("requests", {})
    return collections.Counter({name: amount(value) for name, value in wants.items()})


def size_of(job):
    return sum(role.get("replicas", 1) for role in job["spec"]["roles"])


def phase_of(job):
    return job.get("status", {}).get("phase") if job else None


def over(job):
    return phase_of(job) in ("Succeeded", "Failed")


def places(assignments):
    """{(role, index): node} of the record's compressed form, indices as in "0-3,7"."""
    found = {}
    for each in assignments or []:
        for part in each["indices"].split(","):
            low, _, high = part.partition("-")
            for index in range(int(low), int(high or low) + 1):
                found[(each["role"], str(index))] = each["node"]
    return found


# ---- watching

class _Feed(threading.Thread):
    """One collection, for ever: list, watch, and again when the stream breaks."""

    def __init__(self, name, function, args, take, failed):
        super().__init__(daemon=True, name=f"watch-{name}")
        self._function, self._args = function, args
        self._take, self._failed = take, failed
        self._known = {}
        self._response = None
        self.version = 0                                # of the newest object that was taken
        self.stopping = threading.Event()
        self.listed = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            try:
                self._follow(self._relist())
            except Violation as error:
                self._failed(error)
            except Exception as error:  # pylint: disable=broad-except
                # The API server went away, or the history that we asked for did.
                self._failed(None if self.listed.is_set() else error)
                self.stopping.wait(0.2)

    def stop(self):
        self.stopping.set()
        connection = getattr(self._response, "connection", None)
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _call(self, **more):
        return self._function(*self._args, _preload_content=False, **more)

    def list(self):
        return json.loads(self._call(_request_timeout=30).data)

    def _relist(self):
        answer = self.list()
        fresh = {key_of(item): item for item in answer["items"]}
        for key, item in list(self._known.items()):
            if key not in fresh or uid_of(fresh[key]) != uid_of(item):
                self._note("DELETED", item)
        for key, item in fresh.items():
            old = self._known.get(key)
            if not old or old["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._note("MODIFIED" if old else "ADDED", item)
        self.listed.set()
        return answer["metadata"]["resourceVersion"]

    def _follow(self, version):
        self._response = self._call(watch=True, resource_version=version, timeout_seconds=300,
                                    _request_timeout=(30, 330))
        rest = b""
        for chunk in self._response.stream(amt=None, decode_content=False):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in filter(None, lines):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                self._note(event["type"], event["object"])
            if self.stopping.is_set():
                return

    def _note(self, kind, item):
        if kind == "DELETED":
            self._known.pop(key_of(item), None)
        else:
            self._known[key_of(item)] = item
        self.version = max(self.version, version_of(item))
        self._take(kind, item)


class Invariants:
    """kubeconfig: of a user who may read everything. bound_seconds: how long a gang may be on its way;
    above the protocol's own deadline for one attempt."""

    def __init__(self, kubeconfig, bound_seconds=180, patience=120):
        api = config.new_client_from_config(str(kubeconfig))
        core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        self._core, self._bound, self._patience = core, bound_seconds, patience
        self._changed = threading.Condition()
        self._violation = None
        self._homes = {}                                # uid of a job -> its namespace and name, for ever
        self._gangs = set()                             # uids of Gangs, for ever
        self._since = {}                                # what must not last -> when it began
        self._bound_ever = collections.defaultdict(set)  # (job uid, epoch, role, index) -> pod uids
        self.pods, self.nodes, self.jobs = {}, {}, {}
        self._allocatable = {}                          # node -> the last two values: watches are not in step
        self.tail = collections.deque(maxlen=_TAIL)
        self._feeds = [
            _Feed("nodes", core.list_node, (), self._taker(self._node), self._fail),
            _Feed("jobs", custom.list_cluster_custom_object, (GROUP, VERSION, JOBS), self._taker(self._job),
                  self._fail),
            _Feed("gangs", custom.list_cluster_custom_object, (GROUP, VERSION, GANGS), self._taker(self._job),
                  self._fail),
            _Feed("pods", core.list_pod_for_all_namespaces, (), self._taker(self._pod), self._fail)]
        for feed in self._feeds:
            feed.start()
            if not feed.listed.wait(60):
                raise Violation(f"{feed.name}: nothing to be listed: {self._violation}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop(quiet=kind is not None)

    def stop(self, quiet=False):
        for feed in self._feeds:
            feed.stop()
        if not quiet:
            self.check()

    # ---- for the cases

    def check(self):
        """Raises what was violated, with the last events."""
        with self._changed:
            self._overdue()
            if self._violation:
                raise Violation(f"{self._violation}\nthe last events:\n  " + "\n  ".join(self.tail))

    def wait(self, predicate, what, timeout=None):
        """Waits until predicate() is true (under the lock, called after every event); returns its value."""
        deadline = time.monotonic() + (timeout or self._patience)
        while True:
            self.check()
            with self._changed:
                value = predicate()
                if value:
                    return value
                left = deadline - time.monotonic()
                if left > 0:
                    self._changed.wait(min(left, 5))
                    continue
            raise AssertionError(f"not within {timeout or self._patience} s: {what}\n{self.digest()}")

    def job(self, namespace, name):
        return self.jobs.get((namespace, name))

    def phase(self, namespace, name):
        return phase_of(self.job(namespace, name))

    def members(self, uid):
        return [pod for pod in self.pods.values() if self._gang(pod) == uid]

    def catch_up(self):
        """Waits until the watches have delivered everything that exists now."""
        for feed in self._feeds:
            newest = max(map(version_of, self._listed(feed)), default=0)
            self.wait(lambda feed=feed, newest=newest: feed.version >= newest, "the watches catch up")

    def _listed(self, feed):
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return feed.list()["items"]
            except Exception:  # pylint: disable=broad-except
                # The API server may be away for a moment, as it may be for the watches.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def settled(self, timeout=None):
        """Waits until no gang is on its way: each has ended, is placed as a whole with all its members on the nodes of
        its record, or has nothing; and the job of every member exists."""
        self.catch_up()
        self.wait(lambda: not self._unsettled(), "all gangs are whole or have nothing", timeout)

    def gone(self, *namespaces, timeout=None, auxiliaries=True):
        """Waits until the namespaces hold no job, no pod, and none of our Services and ConfigMaps. These go
        by the garbage collector, which takes half a minute to learn of a new cluster's TrainingJobs."""
        self.catch_up()

        def left():
            return [key for group in (self.jobs, self.pods) for key in group if key[0] in namespaces]
        self.wait(lambda: not left(), f"nothing is left in {', '.join(namespaces)}", timeout)
        deadline = time.monotonic() + (timeout or self._patience)
        for namespace in namespaces if auxiliaries else ():
            while found := self._auxiliaries(namespace):
                if time.monotonic() > deadline:
                    raise Violation(f"left in {namespace} after its jobs: {found}")
                time.sleep(0.2)

    def _auxiliaries(self, namespace):
        items = []
        for function in (self._core.list_namespaced_service, self._core.list_namespaced_config_map):
            items += json.loads(function(namespace, _preload_content=False).data)["items"]
        return [item["metadata"]["name"] for item in items if owner_of(item)]

    def digest(self):
        """Everything there is, a line each, and the last events."""
        with self._changed:
            lines = [self._words(item) for item in [*self.jobs.values(), *self.pods.values()]]
            unsettled = self._unsettled()
            return "\n  ".join(["there are:", *sorted(lines), f"not settled: {unsettled}", "the last events:",
                                *self.tail])

    def _gang(self, pod):
        """uid of the TrainingJob or Gang whose member the pod is: owner, labels and name are not enough each by itself,
        because any client can copy them into another namespace or under another name."""
        uid = label(pod, "job-uid")
        if uid in self._gangs:
            return uid if self._homes[uid][0] == key_of(pod)[0] else None
        uid = owner_of(pod)
        if uid not in self._homes:
            return uid
        namespace, name = self._homes[uid]
        member = (namespace, f"{name}-{label(pod, 'role')}-{label(pod, 'index')}")
        return uid if key_of(pod) == member else None

    # ---- events

    def _taker(self, function):
        def take(kind, item):
            with self._changed:
                self.tail.append(f"{time.strftime('%H:%M:%S')} {kind:<8} {self._words(item)}")
                function(kind, item)
                self._overdue()
                self._changed.notify_all()
        return take

    def _fail(self, error):
        with self._changed:
            if error is not None and self._violation is None:
                self._violation = error
            self._changed.notify_all()

    def _accuse(self, text):
        self._fail(Violation(text))

    def _node(self, kind, node):
        name = node["metadata"]["name"]
        if kind == "DELETED":
            self.nodes.pop(name, None)
            return
        self.nodes[name] = node
        history = self._allocatable.setdefault(name, collections.deque(maxlen=2))
        now = {key: amount(value) for key, value in node["status"].get("allocatable", {}).items()}
        if not history or history[-1] != now:
            history.append(now)

    def _job(self, kind, job):
        if kind == "DELETED":
            self.jobs.pop(key_of(job), None)
        else:
            self.jobs[key_of(job)] = job
            self._homes[uid_of(job)] = key_of(job)
            if job["kind"] == "Gang":
                self._gangs.add(uid_of(job))
        self._note_unsettled()

    def _pod(self, kind, pod):
        old = self.pods.get(key_of(pod))
        if kind == "DELETED":
            self.pods.pop(key_of(pod), None)
        else:
            self.pods[key_of(pod)] = pod
            self._check_capacity(old, pod)
            self._check_doubles(pod)
        self._note_unsettled()

    def _check_capacity(self, old, pod):
        """Only pods that are added to a node are checked: a node that shrinks harms no pod."""
        for what, where in (("bound", node_of), ("bound or pinned members", lambda each: self._gang(each) and (
                node_of(each) or pinned_to(each)))):
            node = where(pod)
            fresh = not old or uid_of(old) != uid_of(pod) or where(old) != node
            history = self._allocatable.get(node)
            if not node or not fresh or not history or ended(pod):
                continue
            there = [each for each in self.pods.values() if where(each) == node and not ended(each)]
            total = sum(map(requests, there), collections.Counter())
            for name, value in requests(pod).items():
                room = max(each.get(name, 0) for each in history)
                if value and total[name] > room:
                    names = "\n  ".join(map(self._words, there))
                    self._accuse(f"{node} has {room:g} {name}, and {total[name]:g} are {what}:\n  {names}")

    def _check_doubles(self, pod):
        uid = self._gang(pod)
        if not uid or not node_of(pod):
            return
        if uid in self._gangs:
            self._check_place(uid, pod)
            return
        member = (uid, label(pod, "epoch"), label(pod, "role"), label(pod, "index"))
        bound = self._bound_ever[member]
        bound.add(uid_of(pod))
        if len(bound) > 1:
            self._accuse(f"doubled: {self._words(pod)} is one of {len(bound)} pods bound for this member")
        job = next((job for job in self.jobs.values() if uid_of(job) == uid), None)
        if job and job["spec"].get("failure", {}).get("restartScope", "Gang") == "Gang":
            epochs = {label(each, "epoch") for each in self.members(uid) if node_of(each) and not ended(each)}
            if len(epochs) > 1:
                self._accuse(f"{self._words(job)}: bound members of several epochs: {sorted(epochs)}")

    def _check_place(self, uid, pod):
        place = (label(pod, "role"), label(pod, "index"))
        there = [each for each in self.members(uid) if node_of(each) and not ended(each)
                 and (label(each, "role"), label(each, "index")) == place]
        if len(there) > 1:
            self._accuse("one place, several pods:\n  " + "\n  ".join(map(self._words, there)))

    # ---- what may be for a while

    def _unsettled(self):
        """{what: description} of all that must come to an end."""
        found = {}
        jobs = {uid_of(job): job for job in self.jobs.values()}
        groups = collections.defaultdict(list)
        for pod in self.pods.values():
            if self._gang(pod):
                groups[self._gang(pod)].append(pod)
        for uid, pods in groups.items():
            if uid not in jobs:
                found[uid] = f"pods without their job: {', '.join(pod['metadata']['name'] for pod in pods)}"
        for uid, job in jobs.items():
            words = self._unsettled_job(job, groups.get(uid, []))
            if words:
                found[uid] = f"{self._words(job)}: {words}"
        return found

    def _unsettled_job(self, job, pods):
        if over(job) and "deletionTimestamp" not in job["metadata"]:
            return None
        if "deletionTimestamp" in job["metadata"]:
            return "is going"
        record = job.get("status", {}).get("gang", {})
        if record.get("proposal"):
            return f"on its way: {json.dumps(record['proposal'])}"
        placed = places(record.get("placed", {}).get("assignments"))
        stand = {(label(pod, "role"), label(pod, "index")): node_of(pod) for pod in pods}
        if not placed and pods:
            return f"nothing is placed, yet there are {len(pods)} pods"
        if placed and (len(placed) != size_of(job) or stand != placed):
            return f"{len(placed)} of {size_of(job)} placed: {placed}, and the members stand at {stand}"
        return None

    def _note_unsettled(self):
        now, current = time.monotonic(), self._unsettled()
        self._since = {key: self._since.get(key, now) for key in current}

    def _overdue(self):
        late = [key for key, since in self._since.items() if time.monotonic() - since > self._bound]
        if late and self._violation is None:
            current = self._unsettled()
            words = [current.get(key) for key in late]
            self._violation = Violation(f"for more than {self._bound} s: {words}")

    @staticmethod
    def _words(item):
        meta, status = item["metadata"], item.get("status", {})
        name = "/".join(filter(None, key_of(item)))
        going = " going" if "deletionTimestamp" in meta else ""
        if "containers" in item.get("spec", {}):
            aim = f"->{pinned_to(item)}" if pinned_to(item) else "gated" if gated(item) else "-"
            return (f"pod {name} {uid_of(item)[:8]} epoch={label(item, 'epoch')} {node_of(item) or aim} "
                    f"{status.get('phase')}{going}")
        if "roles" in item.get("spec", {}):
            gang = status.get("gang", {})
            proposal = gang.get("proposal")
            way = f" {proposal['kind']}/{proposal['phase']}/{proposal['epoch']}" if proposal else ""
            why = status.get("pending", {}).get("reason", "")
            return (f"job {name} {uid_of(item)[:8]} {status.get('phase')} "
                    f"placed={gang.get('placed', {}).get('epoch')}{way} {why}{going}")
        return f"node {name} {status.get('allocatable', {}).get('nvidia.com/gpu')} GPUs{going}"
