"""The cases of the chart share this: a cluster of real nodes where Trainyard was installed as users install it."""
import contextlib
import os
import threading

import pods
import support
from lib import kwok, leaks
from lib.cluster import Cluster
from lib.helm import NAMESPACE, Release
from support import GPU, given, kubectl

_kept = {}


def up():
    """A cluster with two real nodes of four GPUs, the chart installed, kube-scheduler configured with the extender."""
    bare()
    release().install()
    release().wire_scheduler()
    support.wait_leader()


def bare():
    """The cluster, with the programs' images on its nodes and nothing installed."""
    empty(gpus=4)
    release().load_images()


def empty(gpus):
    """Two real nodes with so many GPUs each, and nothing of Trainyard's on them."""
    cluster = Cluster.up(real=2, nodes=0, shape=kwok.Shape(gpus=gpus), with_trainyard=False, install=False)
    _kept["cluster"] = cluster
    support.give(cluster)
    _kept["release"] = Release(cluster, os.environ["TRAINYARD_E2E_BIN"])


def down():
    cluster = _kept.pop("cluster", None)
    if cluster:
        try:
            check_logs(cluster)
        finally:
            cluster.down()


def check_logs(cluster):
    """Checks the logs of existing pods: a pod's logs are deleted with it."""
    found = leaks.in_pods(cluster, NAMESPACE)
    if found:
        raise AssertionError("\n".join(["secrets are logged:", *found]))


def release():
    return _kept["release"]


def job(name, script="sleep 1", replicas=2, gpus=4, **spec):
    body = support.job(name, replicas=replicas, gpus=gpus, **spec)
    template = body["spec"]["roles"][0]["template"]["spec"]
    template.update(nodeSelector=dict([pods.LIVE]), terminationGracePeriodSeconds=2)
    template["containers"][0].update(image=pods.BUSYBOX, imagePullPolicy="Never", command=["sh", "-c", script])
    return body


def foreign_pod(name):
    """A foreign pod with a GPU: kube-scheduler asks the extender about it."""
    return pods.pod(name, "exec sleep 3600", main={"resources": {"limits": {GPU: 1}}})


def attempts():
    """kube-scheduler's scheduling attempts since it started, by result."""
    found = {}
    for series, value in given().metrics("kube-scheduler").items():
        if series.startswith("scheduler_schedule_attempts_total"):
            result = series.partition('result="')[2].partition('"')[0]
            found[result] = found.get(result, 0) + value
    return found


def pods_of(program):
    return given().json("get", "pods", "-n", NAMESPACE, "-l", f"app.kubernetes.io/name={program}")["items"]


def kill_pods(*programs):
    """Deletes all pods of these programs at once, without a grace period."""
    kubectl("delete", "pods", "-n", NAMESPACE, "-l", f"app.kubernetes.io/name in ({','.join(programs)})",
            "--grace-period=0", "--force")


def await_rollout(program):
    kubectl("rollout", "status", f"deployment/{program}", "-n", NAMESPACE, "--timeout=120s", timeout=130)


@contextlib.contextmanager
def load(namespace):
    """Creates pods with a GPU one after the other, each of which ends; yields a function that returns how many were
    bound."""
    over, state = threading.Event(), {"bound": 0, "error": None}

    def run():
        try:
            with support.watch_pods(namespace) as seen:
                while not over.is_set():
                    name = f"load{state['bound']}"
                    pods.create(namespace, foreign_pod(name))
                    seen.wait(lambda all_, name=name: support.node_of(all_.get((namespace, name), {"spec": {}})),
                              f"{name} is bound")
                    state["bound"] += 1
                    support.core().delete_namespaced_pod(name, namespace, grace_period_seconds=0)
        except Exception as error:  # pylint: disable=broad-except
            state["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def bound():
        if state["error"]:
            raise state["error"]
        return state["bound"]

    try:
        yield bound
    finally:
        over.set()
        thread.join(support.PATIENCE)
    bound()
