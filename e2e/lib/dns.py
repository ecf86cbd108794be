"""Cluster DNS: CoreDNS as a Deployment on the real nodes, with no name server above it."""
import json
import subprocess

from . import images, realnode

_NAMESPACE, _NAME = "kube-system", "coredns"
_LABELS = {"k8s-app": "kube-dns"}
# Not 53: that port would take a capability.
_PORT = 1053

# No cache, and a short life in other caches: a gang's members ask for each other while they appear.
_COREFILE = f"""\
.:{_PORT} {{
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        pods insecure
        ttl 1
    }}
    prometheus :9153
}}
"""


def install(cluster):
    # The Service wants an address inside the range, so it is made before another Service can be given it.
    objects = {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _NAME, "namespace": _NAMESPACE}},
        *_rights(), _configuration(), _service(cluster.plan.dns_service), _deployment(len(cluster.plan.nodes))]}
    cluster.kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=json.dumps(objects))


def answers(cluster, node=None):
    """True once a question from a node, or from this machine, is answered: through kube-proxy and CoreDNS."""
    item = cluster.api.get(f"/apis/apps/v1/namespaces/{_NAMESPACE}/deployments/{_NAME}")
    if item["status"].get("readyReplicas", 0) < item["spec"]["replicas"]:
        return False
    name, server = "kubernetes.default.svc.cluster.local", cluster.plan.dns_service
    question = ["/bin/busybox", "nslookup", "-type=a", name, server]
    run = realnode.command(cluster, node, question) if node else subprocess.run(
        question, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return cluster.plan.api_service in run.stdout


def _rights():
    group = "rbac.authorization.k8s.io"
    name = {"name": "system:coredns"}
    return [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": name, "rules": [
            {"apiGroups": [""], "resources": ["services", "namespaces", "pods"], "verbs": ["list", "watch"]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]}]},
        {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": name,
         "roleRef": {"apiGroup": group, "kind": "ClusterRole", **name},
         "subjects": [{"kind": "ServiceAccount", "name": _NAME, "namespace": _NAMESPACE}]}]


def _configuration():
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME, "namespace": _NAMESPACE},
            "data": {"Corefile": _COREFILE}}


def _service(address):
    ports = [{"name": f"dns-{protocol.lower()}", "port": 53, "targetPort": _PORT, "protocol": protocol}
             for protocol in ("UDP", "TCP")]
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "kube-dns", "namespace": _NAMESPACE, "labels": _LABELS},
            "spec": {"clusterIP": address, "selector": _LABELS, "ports": ports}}


def _deployment(nodes):
    anywhere = [{"operator": "Exists"}]
    spread = {"weight": 100, "podAffinityTerm": {"labelSelector": {"matchLabels": _LABELS},
                                                 "topologyKey": "kubernetes.io/hostname"}}
    container = {
        "name": "coredns", "image": images.COREDNS, "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "volumeMounts": [{"name": "configuration", "mountPath": "/etc/coredns", "readOnly": True}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]}}}
    pod = {
        "serviceAccountName": _NAME, "priorityClassName": "system-cluster-critical", "dnsPolicy": "Default",
        "nodeSelector": realnode.SELECTOR, "tolerations": anywhere, "terminationGracePeriodSeconds": 1,
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [spread]}},
        "containers": [container],
        "volumes": [{"name": "configuration", "configMap": {"name": _NAME}}]}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": _NAME, "namespace": _NAMESPACE, "labels": _LABELS},
            # Two, so that names are known while a test stops one node.
            "spec": {"replicas": min(2, nodes), "selector": {"matchLabels": _LABELS},
                     "template": {"metadata": {"labels": _LABELS}, "spec": pod}}}
