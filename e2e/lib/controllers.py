"""Real controllers of other workload kinds, as tools.CASE_RECIPES builds them.

    from lib import controllers

    controllers.start(given(), "jobset")      # returns when it is ready; the case file names it in TOOLS
    controllers.start(cluster, "kueue", {"clientConnection": {"qps": 500, "burst": 1000}})   # more of its configuration file
    controllers.stop(cluster, "kueue")        # and its webhooks are gone; it can start again

A controller runs as the cluster's admin, unless the caller names an account, on loopback, without leader election and without
metrics. CRDs, webhooks and configuration are those of its Go module. The API server calls the webhooks by URL; the cluster's
CA signs their certificate. Each controller takes one of the cluster's spare ports: for its webhooks, or else for its health.

LeaderWorkerSets need a cluster with CLUSTER = {"workloads": True}; TrainJobs need the controller "jobset" as well.
"""
import base64
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml

from . import images, pki, processes, tools, trainyard
from .api import fetch
from .errors import E2EError
from .kwok import poll

_READY_SECONDS = 60
# Its own asks with a nslookup that must find the name in each search domain, if it is busybox'.
_INIT_CONTAINER = trainyard.MANIFESTS / "pytorch-init-container.yaml"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Where controller-runtime looks for a certificate, below TMPDIR.
_CERTIFICATES = "k8s-webhook-server/serving-certs"
_KINDS_OF_WEBHOOKS = ("mutating", "validating")


@dataclass(frozen=True)
class Controller:
    """Paths are relative to the module's folder.

    definitions: folder, kustomization or file of the CRDs, without the files in `leave_out`. webhooks: kustomization of the
    webhook configurations. config: configuration file of an installation, and the section of it that manages certificates.
    arguments, environment: {port}, {kubeconfig}, {config} (the file). ready: path of the health; unused with webhooks.
    """
    module: str
    definitions: str
    leave_out: tuple = ()
    webhooks: str = ""
    config: tuple = ()
    arguments: tuple = ()
    environment: tuple = ()
    ready: str = ""


CONTROLLERS = {
    # It has no option against leader election; the namespace of its lease must exist.
    "mpi-operator": Controller(
        "github.com/kubeflow/mpi-operator", "manifests/base/kubeflow.org_mpijobs.yaml", ready="healthz",
        arguments=("--kubeConfig={kubeconfig}", "--lock-namespace=kube-system", "--kube-api-qps=500", "--kube-api-burst=1000"),
        environment=("HEALTH_ADDRESS=127.0.0.1:{port}",)),
    "jobset": Controller(
        "sigs.k8s.io/jobset", "config/components/crd/bases", webhooks="config/components/webhook",
        config=("config/components/manager/controller_manager_config.yaml", "internalCertManagement"),
        arguments=("--config={config}",)),
    # Its MPIJob is an older version of the kind that mpi-operator defines. Its webhooks listen on all addresses: it has no
    # option for one.
    "training-operator": Controller(
        "github.com/kubeflow/training-operator", "manifests/base/crds", leave_out=("kubeflow.org_mpijobs.yaml",),
        webhooks="manifests/base/webhook",
        arguments=("--metrics-bind-address=0", "--health-probe-bind-address=0", "--webhook-server-port={port}",
                   f"--pytorch-init-container-image={images.BUSYBOX}",
                   f"--pytorch-init-container-template-file={_INIT_CONTAINER}",
                   "--kube-api-qps=500", "--kube-api-burst=1000",
                   *(f"--enable-scheme={kind}" for kind in ("pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob")))),
    # As its own chart starts it: without webhooks, whose port is a constant.
    "kuberay": Controller(
        "github.com/ray-project/kuberay/ray-operator", "config/crd/bases", ready="readyz",
        arguments=("--metrics-addr=0", "--health-probe-bind-address=127.0.0.1:{port}", "--enable-leader-election=false")),
    "kueue": Controller(
        "sigs.k8s.io/kueue", "config/components/crd", webhooks="config/components/webhook",
        config=("config/components/manager/controller_manager_config.yaml", "internalCertManagement"),
        # The server behind the visibility API has a port of its own, and nothing here asks it.
        arguments=("--config={config}", "--feature-gates=VisibilityOnDemand=false")),
    "lws": Controller(
        "sigs.k8s.io/lws", "config/crd/bases", webhooks="config/webhook",
        config=("config/manager/controller_manager_config.yaml", "internalCertManagement"),
        arguments=("--config={config}",)),
    "trainer": Controller(
        "github.com/kubeflow/trainer/v2", "manifests/base/crds", webhooks="manifests/base/webhook",
        config=("manifests/base/manager/controller_manager_config.yaml", "certManagement"),
        arguments=("--config={config}",)),
}


def start(cluster, name, settings=None, kubeconfig=None):
    """Starts the controller and returns when it and its webhooks answer; nothing to do where it runs already. One that was
    stopped keeps the settings of its first start.

    settings: sections of its configuration file in place of those of its module. kubeconfig: of an account of the caller's, in
    place of the admin's.
    """
    if name not in cluster.processes():
        _Start(cluster, name, cluster.spare_ports.pop(0)).run(settings or {}, kubeconfig or cluster.kubeconfig)
    elif not cluster.alive(name):
        _Start(cluster, name).again()


def stop(cluster, name):
    """Ends the controller and removes its webhooks; its CRDs and objects stay."""
    for kind in _KINDS_OF_WEBHOOKS:
        cluster.kubectl("delete", f"{kind}webhookconfiguration", f"{name}-{kind}", "--ignore-not-found")
    cluster.stop(name)


def apply(cluster, items):
    # Validation reads the whole OpenAPI document, which the server builds again after each CRD: half a minute when busy.
    cluster.kubectl("apply", "--server-side", "--validate=false", "-f", "-",
                    input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def define(cluster, definitions):
    """Applies CRDs and returns when the API server serves them."""
    apply(cluster, definitions)
    waiting = {item["metadata"]["name"] for item in definitions}

    def established():
        found = [cluster.api.get(f"{_DEFINITIONS}/{name}") for name in waiting]
        waiting.difference_update([item["metadata"]["name"] for item in found if _is_established(item)])
        return not waiting

    # Not `kubectl wait`: it fails for a definition that has no conditions yet.
    poll(established, _READY_SECONDS, lambda: f"{', '.join(sorted(waiting))}: not established")


class _Start:
    def __init__(self, cluster, name, port=None):
        self._cluster = cluster
        self._name = name
        self._controller = CONTROLLERS[name]
        self._module = tools.module_folder(name, self._controller.module)
        self._folder = cluster.dir / name
        self._certificates = self._folder / _CERTIFICATES
        self._webhooks_file = self._folder / "webhooks.json"
        self._port = port

    def run(self, settings, kubeconfig):
        cluster, controller = self._cluster, self._controller
        define(cluster, self._definitions())
        self._make_certificate()
        values = {"port": self._port, "kubeconfig": kubeconfig, "config": self._write_config(settings)}
        environment = [each.format(**values) for each in controller.environment]
        arguments = [each.format(**values) for each in controller.arguments]
        webhooks = self._webhooks()
        self._webhooks_file.write_text(json.dumps(webhooks))
        cluster.run(self._name, ["/usr/bin/env", f"KUBECONFIG={kubeconfig}", f"TMPDIR={self._folder}", *environment,
                                 tools.only(self._name)[self._name], *arguments],
                    ready=None if webhooks else f"http://127.0.0.1:{self._port}/{controller.ready}", timeout=_READY_SECONDS)
        self._register(webhooks)

    def again(self):
        self._cluster.start(self._name, _READY_SECONDS)
        self._register(json.loads(self._webhooks_file.read_text()))

    def _register(self, webhooks):
        if webhooks:
            self._await_webhooks(webhooks)
            apply(self._cluster, webhooks)

    def _definitions(self):
        path = self._module / self._controller.definitions
        if (path / "kustomization.yaml").is_file() and not self._controller.leave_out:
            items = self._kustomized(path)
        else:
            files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
            items = [yaml.safe_load(file.read_text()) for file in files
                     if file.name not in (*self._controller.leave_out, "kustomization.yaml")]
        for item in items:
            if webhook := item["spec"].get("conversion", {}).get("webhook"):
                webhook["clientConfig"] = self._client_config(webhook["clientConfig"])
        return items

    def _kustomized(self, path):
        return [item for item in yaml.safe_load_all(self._cluster.kubectl("kustomize", path)) if item]

    def _client_config(self, of_service):
        """The same webhook, called on loopback."""
        authority = base64.b64encode((self._cluster.pki / "ca.crt").read_bytes()).decode()
        return {"url": f"https://127.0.0.1:{self._port}{of_service['service']['path']}", "caBundle": authority}

    def _make_certificate(self):
        self._certificates.mkdir(parents=True)
        pki.issue(self._cluster.pki, self._name, "server", f"/CN={self._name}", ["IP:127.0.0.1"])
        for kind in ("crt", "key"):
            shutil.copy(self._cluster.pki / f"{self._name}.{kind}", self._certificates / f"tls.{kind}")

    def _write_config(self, settings):
        if not self._controller.config:
            return None
        source, certificates = self._controller.config
        config = yaml.safe_load((self._module / source).read_text())
        config.update({"health": {"healthProbeBindAddress": "0"}, "metrics": {"bindAddress": "0"},
                       "webhook": {"host": "127.0.0.1", "port": self._port}, "leaderElection": {"leaderElect": False},
                       certificates: {"enable": False}, **settings})
        if certificates == "internalCertManagement":
            # These have a default of their own, which is not below TMPDIR.
            config["webhook"]["certDir"] = str(self._certificates)
        target = self._folder / Path(source).name
        target.write_text(json.dumps(config, indent=2) + "\n")
        return target

    def _webhooks(self):
        if not self._controller.webhooks:
            return []
        found = [item for item in self._kustomized(self._module / self._controller.webhooks)
                 if item["kind"].endswith("WebhookConfiguration")]
        for item in found:
            item["metadata"] = {"name": f"{self._name}-{item['kind'].removesuffix('WebhookConfiguration').lower()}"}
            for webhook in item["webhooks"]:
                webhook["clientConfig"] = self._client_config(webhook["clientConfig"])
        return found

    def _await_webhooks(self, configurations):
        # Registered one after the other: the first that answers is not proof of the last.
        silent = {webhook["clientConfig"]["url"] for item in configurations for webhook in item["webhooks"]}

        def all_answer():
            if not self._cluster.alive(self._name):
                raise E2EError(self._cluster.obituary(self._name))
            silent.difference_update([url for url in silent if fetch(url)[0] not in (None, 404)])
            return not silent

        def late():
            return (f"{self._name} does not serve {', '.join(sorted(silent))}; last lines of its log:\n"
                    + processes.tail(self._cluster.log(self._name)))

        poll(all_answer, _READY_SECONDS, late)


def _is_established(definition):
    return any(condition["type"] == "Established" and condition["status"] == "True"
               for condition in definition.get("status", {}).get("conditions") or ())
