"""The cases of this folder share this: pods of busybox on real nodes, and their state as seen from outside."""
import support
from lib.images import BUSYBOX
from support import given, kubectl

LIVE = ("sim.trainyard.dev/kubelet", "real")


def container(script, **more):
    return {"name": "main", "image": BUSYBOX, "imagePullPolicy": "Never", "command": ["sh", "-c", script], **more}


def pod(name, script="exec sleep 3600", node=None, labels=None, main=None, **spec):
    """A pod of one busybox that runs a shell script, on a node of this name or on any real one."""
    where = {"kubernetes.io/hostname": node} if node else dict([LIVE])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "nodeSelector": where,
                     "containers": [container(script, **(main or {}))], **spec}}


def server(name, node, **options):
    """A pod that answers with its own name at http://NAME:8080/name, and is ready once it does."""
    script = "mkdir /www; hostname >/www/name; exec httpd -f -p 8080 -h /www"
    probe = {"httpGet": {"path": "/name", "port": 8080}, "periodSeconds": 1}
    return pod(name, script, node, main={"readinessProbe": probe}, **options)


def create(namespace, *bodies):
    for body in bodies:
        support.core().create_namespaced_pod(namespace, body)


def create_service(namespace, name, selector, headless=False):
    spec = {"selector": selector, "ports": [{"port": 80, "targetPort": 8080}]}
    if headless:
        spec.update(clusterIP="None", publishNotReadyAddresses=True)
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
    return support.core().create_namespaced_service(namespace, body).spec.cluster_ip


def ready(item):
    return any(each["type"] == "Ready" and each["status"] == "True"
               for each in item["status"].get("conditions", []))


def main_status(item):
    return (item["status"].get("containerStatuses") or [{}])[0]


def main_state(item):
    """The state of a pod's container: {'running': …}, {'waiting': …}, {'terminated': …} or {}."""
    return main_status(item).get("state") or {}


def ended(item):
    return main_state(item).get("terminated")


def wait_pods(pods, namespace, names, test, what):
    """Waits until test holds of all these pods; returns what it gave for each."""
    def all_hold(objects):
        found = [objects.get((namespace, name)) for name in names]
        values = [item is not None and test(item) for item in found]
        return values if all(values) else None
    return pods.wait(all_hold, f"{', '.join(names)}: {what}")


# Its child is killed for its memory; it ends as the child did, once it is let go.
GREEDY = "tail /dev/zero; code=$?; while [ ! -e /go ]; do sleep 0.1; done; exit $code"


def end_greedy(pod):
    """Ends a GREEDY container when its node has recorded why the child was killed.

    A container that ends at once may do so before the record of the kill, which takes another way, has arrived:
    then its reason is Error.
    """
    container = main_status(pod)["containerID"].rpartition("/")[2]
    log = given().log(f"containerd-{pod['spec']['nodeName']}")
    support.await_value(log.read_text, lambda text: f"TaskOOM{{ContainerID:{container}" in text.replace(" ", ""),
                        f"containerd knows that {container} had a process killed")
    run_in(pod["metadata"]["namespace"], pod["metadata"]["name"], "touch", "/go")


def run_in(namespace, name, *argv):
    """kubectl exec; returns stdout."""
    return kubectl("exec", "-n", namespace, name, "--", *argv)
