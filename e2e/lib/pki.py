"""Certificates and kubeconfigs of one cluster, made by the openssl command line (about 20 ms each)."""
import base64
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .errors import E2EError

_DAYS = "30"

_CONFIG = """\
[req]
distinguished_name = subject
prompt = no
[subject]
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[client]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
authorityKeyIdentifier = keyid
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
"""
_APISERVER_NAMES = ["IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default",
                    "DNS:kubernetes.default.svc"]
_EXTENDER_NAMES = ["IP:127.0.0.1", "DNS:localhost"]

# The extender has a CA of its own: a client of the API server may not, by that alone, steer the
# scheduler.
_CAS = {"ca": "/CN=e2e-ca", "extender-ca": "/CN=e2e-extender-ca"}

# The components carry the names that the stock RBAC roles are bound to; only admin and kwok (which plays the
# kubelets of all nodes) are all-powerful.
_LEAVES = [
    # file, CA, use, subject, alternative names
    ("admin", "ca", "client", "/O=system:masters/CN=admin"),
    ("kwok", "ca", "client", "/O=system:masters/CN=kwok"),
    ("kube-controller-manager", "ca", "client", "/CN=system:kube-controller-manager"),
    ("kube-scheduler", "ca", "client", "/CN=system:kube-scheduler"),
    ("extender", "extender-ca", "server", "/CN=trainyard-extender", _EXTENDER_NAMES),
    ("extender-client", "extender-ca", "client", "/CN=system:kube-scheduler"),
]
# Only where there are real nodes; each node gets its own by issue().
_REAL_LEAVES = [
    ("kubelet-client", "ca", "client", "/CN=kube-apiserver-kubelet-client"),
    ("kube-proxy", "ca", "client", "/CN=system:kube-proxy"),
]


def create(folder, addresses=("10.0.0.1",), real=False):
    """Writes NAME.crt and NAME.key of every certificate, and sa.key/sa.pub, into the new directory folder.

    addresses: of the API server besides loopback. real: also what a cluster with real nodes needs.
    """
    folder = Path(folder)
    folder.mkdir(mode=0o700)
    (folder / "openssl.cnf").write_text(_CONFIG)
    names = [f"IP:{address}" for address in addresses]
    with ThreadPoolExecutor(4) as pool:
        tokens = pool.submit(_token_keys, folder)
        list(pool.map(lambda item: _certificate(folder, item[0], item[0], "ca", item[1]), _CAS.items()))
        leaves = [("apiserver", "ca", "server", "/CN=kube-apiserver", _APISERVER_NAMES + names),
                  *_LEAVES, *(_REAL_LEAVES if real else ())]
        list(pool.map(lambda leaf: _certificate(folder, *leaf), leaves))
        tokens.result()


def issue(folder, name, use, subject, names=(), ca="ca"):
    """One certificate more, of the cluster's CA unless said otherwise. use: client or server; names: "IP:10.0.0.1", "DNS:example"."""
    _certificate(Path(folder), name, ca, use, subject, names)


def _certificate(folder, name, ca, extensions, subject, names=()):
    signer = [] if name == ca else ["-CA", f"{ca}.crt", "-CAkey", f"{ca}.key"]
    names = ["-addext", f"subjectAltName={','.join(names)}"] if names else []
    _openssl(folder, "req", "-x509", "-config", "openssl.cnf", "-extensions", extensions, *signer, *names,
             "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
             "-out", f"{name}.crt", "-subj", subject, "-days", _DAYS)


def _token_keys(folder):
    _openssl(folder, "genrsa", "-out", "sa.key", "2048")
    _openssl(folder, "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")


def _openssl(folder, *args):
    try:
        done = subprocess.run(["openssl", *args], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        raise E2EError("the openssl command is not installed (Debian: apt-get install openssl)") from None
    if done.returncode:
        raise E2EError(f"openssl {args[0]} failed: {done.stderr.strip()}")


def kubeconfig(path, server, pki, client=None, token=None, namespace="default"):
    """Writes a self-contained kubeconfig for a client certificate of pki, or for a bearer token."""
    pki = Path(pki)
    if token:
        user = {"token": token}
    else:
        user = {"client-certificate-data": _data(pki / f"{client}.crt"),
                "client-key-data": _data(pki / f"{client}.key")}
    lines = ["apiVersion: v1", "kind: Config", "current-context: e2e",
             "clusters:", "- name: e2e", "  cluster:", f"    server: {server}",
             f"    certificate-authority-data: {_data(pki / 'ca.crt')}",
             "users:", "- name: e2e", "  user:"]
    lines += [f"    {key}: {value}" for key, value in user.items()]
    lines += ["contexts:", "- name: e2e", "  context: " + json.dumps(
        {"cluster": "e2e", "user": "e2e", "namespace": namespace})]
    path = Path(path)
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n")


def _data(path):
    return base64.b64encode(path.read_bytes()).decode()
