"""A block of free ports for one cluster, several clusters side by side."""
import fcntl
import os
import socket
from pathlib import Path

from .errors import E2EError

# Spare ports of the block are for programs that tests start themselves (a standby, a second extender).
NAMES = ("apiserver", "etcd", "etcd-peer", "kube-controller-manager", "kube-scheduler", "kwok", "operator",
         "extender", "extender-metrics")
BLOCK = 20

# Below the range from which the kernel takes ports for outgoing connections: a client cannot sit on ours.
_FIRST, _LAST = 21000, 32000


class PortBlock:
    """ports: {name: port}; spare: the rest. Others are kept off the block while lock_fd is open anywhere."""

    def __init__(self, base, lock_fd):
        self.base = base
        self.lock_fd = lock_fd
        self.ports = {name: base + offset for offset, name in enumerate(NAMES)}
        self.spare = list(range(base + len(NAMES), base + BLOCK))


def claim(base=None):
    """Takes the block at base, or the first free one. A block counts as free if every port can be bound."""
    folder = state_home() / "ports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for candidate in [base] if base else range(_FIRST, _LAST, BLOCK):
        fd = os.open(folder / str(candidate), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Bound ports alone are no proof: between this check and the first listener another may come.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = next((port for port in range(candidate, candidate + BLOCK) if not _bindable(port)), None)
            problem = f"port {taken} is in use" if taken else None
        except BlockingIOError:
            problem = "another cluster holds this block"
        if not problem:
            return PortBlock(candidate, fd)
        os.close(fd)
        if base:
            raise E2EError(f"--ports-from {base}: {problem} (a cluster needs {BLOCK} ports from there on)")
    raise E2EError(f"no free block of {BLOCK} ports between {_FIRST} and {_LAST} on 127.0.0.1")


def state_home():
    """The folder of the clusters of this user unless another one is given; short-lived by nature."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and os.access(runtime, os.W_OK):
        return Path(runtime) / "trainyard"
    folder = Path(f"/tmp/trainyard-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise E2EError(f"{folder} belongs to another user: give --dir and set XDG_RUNTIME_DIR")
    return folder


def _bindable(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True
