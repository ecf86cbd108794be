"""KAI Scheduler beside the stock kube-scheduler: the programs that its operator deploys, as plain processes.

    kai.start(cluster, levels, limits)   # returns when they run and their objects exist; again after stop()
    kai.stop(cluster)
    kai.PROGRAMS                               # names of the processes

CRDs are those of its Go module; configuration and arguments are those that its operator writes for its defaults. Left out:
the operator, and the webhooks, which serve parts of GPUs and check what users write.
"""
import json

import yaml

from . import tools
from .controllers import apply, define
from .kwok import poll

MODULE = "github.com/NVIDIA/KAI-scheduler"
QUEUE, QUEUE_LABEL = "default-queue", "kai.scheduler/queue"
SCHEDULER = "kai-scheduler"
TOPOLOGY = "racks"
_READY_SECONDS = 60
_PLUGINS = ("predicates", "proportion", "priority", "nodeavailability", "resourcetype", "podaffinity", "elastic", "kubeflow",
            "ray", "subgrouporder", "taskorder", "nominatednode", "dynamicresources", "minruntime", "topology", "snapshot",
            "gpupack", "nodeplacement", "gpusharingorder")
_ARGUMENTS = {"nodeplacement": {"gpu": "binpack", "cpu": "binpack"}}
_CONFIG = {"actions": "allocate, consolidation, reclaim, preempt, stalegangeviction",
           "tiers": [{"plugins": [{"name": name, **({"arguments": _ARGUMENTS[name]} if name in _ARGUMENTS else {})}
                                  for name in _PLUGINS]}]}
# Of the default PriorityClasses the ones that its pod grouper names.
_CLASSES = {"train": 50, "build": 100, "inference": 125}
PROGRAMS = (SCHEDULER, "kai-binder", "kai-podgrouper", "kai-podgroupcontroller", "kai-queuecontroller")


def start(cluster, levels, limits=()):
    """levels: labels of nodes, the widest domain first. limits: arguments of each program, such as "--qps=50"."""
    if SCHEDULER in cluster.processes():
        for name in PROGRAMS:
            cluster.start(name, _READY_SECONDS)
    else:
        _install(cluster, levels)
        _run(cluster, limits)


def stop(cluster):
    for name in PROGRAMS:
        cluster.stop(name)


def _install(cluster, levels):
    folder = tools.module_folder("kai", MODULE) / "deployments" / "kai-scheduler" / "crds"
    define(cluster, [yaml.safe_load(file.read_text()) for file in sorted(folder.glob("*.yaml"))])
    anything = {"quota": 0, "limit": -1, "overQuotaWeight": 1}
    resources = {name: anything for name in ("cpu", "gpu", "memory")}
    apply(cluster, [
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
          for name in (SCHEDULER, "kai-resource-reservation", "kai-scale-adjust")),
        *({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
          for name, value in _CLASSES.items()),
        {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "default-parent-queue"},
         "spec": {"resources": resources}},
        {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": QUEUE},
         "spec": {"parentQueue": "default-parent-queue", "resources": resources}},
        {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": TOPOLOGY},
         "spec": {"levels": [{"nodeLabel": label} for label in levels]}}])


def _run(cluster, limits):
    config = cluster.dir / "kai-scheduler.yaml"
    config.write_text(json.dumps(_CONFIG, indent=2) + "\n")
    ports = {name: cluster.spare_ports.pop(0) for name in (*PROGRAMS[:4], "plugins")}
    arguments = {
        SCHEDULER: (f"--scheduler-conf={config}", f"--listen-address=127.0.0.1:{ports[SCHEDULER]}",
                    f"--plugin-server-port={ports['plugins']}", "--feature-gates=DynamicResourceAllocation=true"),
        "kai-binder": ("--metrics-bind-address=0", "--feature-gates=DynamicResourceAllocation=true"),
        "kai-podgrouper": ("--metrics-bind-address=0",),
        "kai-podgroupcontroller": ("--metrics-bind-address=0", "--enable-podgroup-webhook=false"),
        "kai-queuecontroller": ("--metrics-listen-address=0", "--enable-webhook=false"),
    }
    for name in PROGRAMS:
        health = ()
        ready = f"http://127.0.0.1:{ports[name]}/metrics" if name == SCHEDULER else None
        if name in PROGRAMS[1:4]:
            health = (f"--health-probe-bind-address=127.0.0.1:{ports[name]}",)
        cluster.run(name, ["/usr/bin/env", f"KUBECONFIG={cluster.kubeconfig}",
                           *(["GOGC=400"] if name == SCHEDULER else []),
                           tools.only("kai")[name], *arguments[name], *health, *limits],
                    ready=ready, timeout=_READY_SECONDS)
