"""Command lines and configuration files of the control plane's processes.

Facts behind some flags: without a default route the API server refuses to start unless it is given an
address to advertise, which nothing uses with the endpoint reconciler off; a controller manager under its own
user needs a service account per controller, or it may not take the start-up taint off the nodes.
"""
import json

_ALWAYS_ALLOWED = "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"

_CONTROLLERS = (
    "garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
    "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
    "pod-garbage-collector-controller", "node-lifecycle-controller", "taint-eviction-controller",
    "resourcequota-controller", "disruption-controller", "endpointslice-controller", "job-controller",
    "persistentvolume-binder-controller", "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller", "clusterrole-aggregation-controller",
    "validatingadmissionpolicy-status-controller")

# What charts on real nodes need, and kinds that are made of StatefulSets.
_WORKLOAD_CONTROLLERS = ("deployment-controller", "replicaset-controller", "daemonset-controller",
                         "statefulset-controller", "endpoints-controller")

# What belongs to the API itself: collecting garbage, emptying namespaces, making default accounts.
_API_CONTROLLERS = ("garbage-collector-controller", "namespace-controller", "serviceaccount-controller")

_AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


class Program:
    """One process of a cluster: its command line, the addresses of its health and of its metrics.

    enter: where it runs if not here: the name of a process whose namespaces it joins, or the path of a network
    namespace that it joins with new namespaces of all other kinds.
    """

    def __init__(self, name, argv, ready=None, metrics=None, port=None, enter=None):
        self.name = name
        self.argv = [str(arg) for arg in argv]
        self.ready = ready
        self.metrics = metrics
        self.port = port
        self.enter = enter

    def to_json(self):
        return dict(vars(self))


def etcd(layout):
    client, peer = (f"http://127.0.0.1:{layout.ports[name]}" for name in ("etcd", "etcd-peer"))
    return Program("etcd", [
        layout.tools["etcd"], "--name=e2e", f"--data-dir={layout.dir}/etcd",
        f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=e2e={peer}",
        # The data is thrown away with the cluster: nothing is lost by not waiting for the disk.
        "--unsafe-no-fsync=true", "--quota-backend-bytes=4294967296", "--auto-compaction-retention=1",
        "--log-level=warn",
    ], ready=f"{client}/readyz", metrics=f"{client}/metrics", port=layout.ports["etcd"])


# What a feature needs of the API server besides its gate.
_APIS_OF_GATES = {"GenericWorkload": "scheduling.k8s.io/v1alpha2"}


def _emulation(layout):
    emulates = layout.options["emulates"]
    return [f"--emulated-version={emulates}"] if emulates else []


def _feature_gates(layout):
    gates = ",".join(f"{gate}=true" for gate in layout.options["gates"])
    return [f"--feature-gates={gates}"] if gates else []


def apiserver(layout, fast_eviction, audit):
    pki, port = layout.pki, layout.ports["apiserver"]
    argv = [
        layout.tools["kube-apiserver"], f"--etcd-servers=http://127.0.0.1:{layout.ports['etcd']}",
        f"--bind-address={layout.host}", f"--secure-port={port}",
        f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt", "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki}/sa.pub", f"--service-account-signing-key-file={pki}/sa.key",
        "--allow-privileged=true", *_emulation(layout), *_feature_gates(layout), *(_for_real_nodes(layout) if layout.plan else _for_simulated_nodes()),
    ]
    if served := [_APIS_OF_GATES[gate] for gate in layout.options["gates"] if gate in _APIS_OF_GATES]:
        argv += [f"--runtime-config={','.join(f'{api}=true' for api in served)}"]
    if fast_eviction:
        argv += ["--default-not-ready-toleration-seconds=5", "--default-unreachable-toleration-seconds=5"]
    if audit:
        policy = layout.dir / "audit-policy.yaml"
        policy.write_text(_AUDIT_POLICY)
        argv += [f"--audit-policy-file={policy}", f"--audit-log-path={layout.dir}/audit.log",
                 # By default a log of 100 MB is replaced by an empty one.
                 "--audit-log-maxsize=4000"]
    return Program("kube-apiserver", argv, ready=f"{layout.server}/readyz", metrics=f"{layout.server}/metrics",
                   port=port)


def _for_simulated_nodes():
    return ["--advertise-address=10.255.0.1", "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/16", "--authorization-mode=RBAC"]


def _for_real_nodes(layout):
    # Pods find the API server behind the Service `kubernetes`, and it finds kubelets by address, because the names of
    # nodes do not resolve.
    return [f"--advertise-address={layout.host}", "--endpoint-reconciler-type=master-count",
            f"--service-cluster-ip-range={layout.plan.services}", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={layout.pki}/ca.crt",
            f"--kubelet-client-certificate={layout.pki}/kubelet-client.crt",
            f"--kubelet-client-key={layout.pki}/kubelet-client.key"]


def controller_manager(layout, fast_eviction, api_only=False, workloads=False):
    port = layout.ports["kube-controller-manager"]
    # The grace period must span several lease renewals of the simulated kubelets (see kwok below).
    grace = "8s" if fast_eviction else "50s"
    controllers = _API_CONTROLLERS if api_only else _CONTROLLERS
    if workloads:
        controllers += _WORKLOAD_CONTROLLERS
    if layout.options["devices"]:
        controllers += ("resourceclaim-controller",)
    return Program("kube-controller-manager", [
        layout.tools["kube-controller-manager"],
        f"--kubeconfig={layout.dir}/kube-controller-manager.kubeconfig",
        "--leader-elect=false", "--bind-address=127.0.0.1", f"--secure-port={port}",
        f"--service-account-private-key-file={layout.pki}/sa.key", f"--root-ca-file={layout.pki}/ca.crt",
        "--use-service-account-credentials=true", _ALWAYS_ALLOWED, "--kube-api-qps=500",
        "--kube-api-burst=1000", "--node-monitor-period=1s", f"--node-monitor-grace-period={grace}",
        f"--controllers={','.join(controllers)}", *_emulation(layout),
    ], ready=f"https://127.0.0.1:{port}/healthz", metrics=f"https://127.0.0.1:{port}/metrics", port=port)


def scheduler(layout, with_extender):
    port = layout.ports["kube-scheduler"]
    config = layout.dir / "kube-scheduler.yaml"
    # JSON is YAML; written by a JSON encoder it needs no quoting rules.
    config.write_text(json.dumps(_scheduler_config(layout, with_extender), indent=2) + "\n")
    return Program("kube-scheduler", [
        layout.tools["kube-scheduler"], f"--config={config}", "--bind-address=127.0.0.1",
        f"--secure-port={port}", _ALWAYS_ALLOWED, *_emulation(layout), *_feature_gates(layout),
    ], ready=f"https://127.0.0.1:{port}/healthz", metrics=f"https://127.0.0.1:{port}/metrics", port=port)


def _scheduler_config(layout, with_extender):
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": f"{layout.dir}/kube-scheduler.kubeconfig",
                             "qps": 1000, "burst": 2000},
        "leaderElection": {"leaderElect": False},
        # The search must not stop at a sample of nodes that the extender then refuses.
        "percentageOfNodesToScore": 100,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 2,
        "profiles": [{"schedulerName": "default-scheduler"}],
    }
    if with_extender:
        config["extenders"] = [{
            "urlPrefix": f"https://127.0.0.1:{layout.ports['extender']}/v1/extender",
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "preemptVerb": "preempt",
            "weight": 1,
            "nodeCacheCapable": True,
            "ignorable": False,
            "httpTimeout": "2s",
            "enableHTTPS": True,
            "tlsConfig": {
                "insecure": False,
                "caFile": f"{layout.pki}/extender-ca.crt",
                "certFile": f"{layout.pki}/extender-client.crt",
                "keyFile": f"{layout.pki}/extender-client.key",
            },
            "managedResources": [{"name": "nvidia.com/gpu", "ignoredByScheduler": False}],
        }]
        if layout.options["devices"]:
            first = config["extenders"][0]
            config["extenders"].append({
                **{key: first[key] for key in ("filterVerb", "nodeCacheCapable", "httpTimeout", "enableHTTPS", "tlsConfig")},
                "urlPrefix": first["urlPrefix"].replace("/v1/extender", "/v1/devices"), "ignorable": True})
    return config


def kwok(layout, stages, selector, fast_eviction):
    port = layout.ports["kwok"]
    # kwok renews a lease every quarter of its duration.
    lease = 8 if fast_eviction else 40
    return Program("kwok", [
        layout.tools["kwok"], f"--kubeconfig={layout.dir}/kwok.kubeconfig", f"--config={stages}",
        f"--manage-nodes-with-label-selector={selector}", f"--node-lease-duration-seconds={lease}",
        "--cidr=10.64.0.0/12", "--node-ip=10.64.0.1", f"--server-address=127.0.0.1:{port}",
    ], ready=f"http://127.0.0.1:{port}/readyz", metrics=f"http://127.0.0.1:{port}/metrics", port=port)
