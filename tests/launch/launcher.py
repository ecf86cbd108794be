"""Members under trainyard-launch on this machine, for the tests in this folder: each with a membership file of its
own."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

_BUILT = Path(__file__).resolve().parents[2] / "build/release/launch/trainyard-launch"
PROGRAM = os.environ.get("TRAINYARD_LAUNCH_BIN", str(_BUILT))
PATIENCE = 60


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Members:
    """`command(index)` is what each of them runs."""

    def __init__(self, folder, command, slots=1, grace=10, settle=5, extra=None):
        self.folder, self.command, self.extra = Path(folder), command, extra or {}
        self.slots, self.grace, self.settle = slots, grace, settle
        self.port, self.generation, self.running, self.seen = free_port(), 0, {}, []
        self.clients = {}
        # The lines of each member and client that until() has not read yet.
        self.fresh, self.heard = {}, threading.Condition()
        self.token = self.folder / "token"
        self.token.write_text("a-token-of-this-job\n")

    def write_membership(self, index, size):
        """As the kubelet does it: a new folder replaces the old one behind a link."""
        volume = self.folder / f"member-{index}"
        volume.mkdir(exist_ok=True)
        data = volume / f"..{self.generation}"
        data.mkdir(exist_ok=True)
        (data / "membership").write_text(json.dumps({"generation": self.generation, "role": "worker", "size": size},
                                                    separators=(",", ":")))
        (volume / "..new").symlink_to(data.name)
        os.replace(volume / "..new", volume / "..data")
        if not (volume / "membership").is_symlink():
            (volume / "membership").symlink_to("..data/membership")

    def environment(self, index, size):
        return {**os.environ, "TRAINYARD_JOB": "j", "TRAINYARD_ROLE": "worker", "TRAINYARD_INDEX": str(index),
                "TRAINYARD_RANK": str(index), "TRAINYARD_SIZE": str(size), "TRAINYARD_REPLICAS": str(size),
                "WORLD_SIZE": str(size), "RANK": str(index), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500",
                "TRAINYARD_COORDINATOR": "127.0.0.1", "TRAINYARD_HUB_PORT": str(self.port),
                "TRAINYARD_LAUNCH_TOKEN": str(self.token), "TRAINYARD_SLOTS": str(self.slots),
                "TRAINYARD_GRACE_SECONDS": str(self.grace), "TRAINYARD_SETTLE_SECONDS": str(self.settle),
                "TRAINYARD_MEMBERSHIP": str(self.folder / f"member-{index}" / "membership"), **self.extra}

    def start(self, index, size):
        self.write_membership(index, size)
        self.running[index] = self.spawn(index, ["exec", "--", *self.command(index)], self.environment(index, size))

    def start_client(self, name, *words):
        """Starts trainyard-launch WORDS, as client() does, and returns at once.

        until(name, …) waits for a line of its output, ended(name) for its exit code.
        """
        self.clients[name] = self.spawn(name, words, self.environment(0, 1))

    def spawn(self, name, words, environment):
        child = subprocess.Popen([PROGRAM, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
        child.reader = threading.Thread(target=self.read, args=(name, child), daemon=True)
        child.reader.start()
        return child

    def read(self, name, child):
        for line in child.stdout:
            with self.heard:
                self.seen.append((name, line.rstrip()))
                self.fresh.setdefault(name, []).append(line.rstrip())
                self.heard.notify_all()

    def resize(self, size):
        self.generation += 1
        old = sorted(self.running)
        for index in range(size):
            if index not in self.running:
                self.start(index, size)
        for index in old:
            self.write_membership(index, size)

    def until(self, name, pattern):
        end = time.monotonic() + PATIENCE
        with self.heard:
            while time.monotonic() < end:
                while lines := self.fresh.get(name):
                    if re.search(pattern, line := lines.pop(0)):
                        return line
                self.heard.wait(end - time.monotonic())
        raise AssertionError(f"{name!r} did not print {pattern!r}:\n" + "\n".join(map(str, self.seen[-40:])))

    def ended(self, name):
        child = (self.clients if name in self.clients else self.running).pop(name)
        code = child.wait(PATIENCE)
        child.reader.join(PATIENCE)
        child.stdout.close()
        return code

    def lose(self, index):
        """As a node that fails: all of its processes end at once, without notice."""
        child = self.running[index]
        below = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        child.kill()
        for pid in below:
            os.killpg(int(pid), signal.SIGKILL)
        return self.ended(index)

    def signal(self, index, number):
        self.running[index].send_signal(number)

    def client(self, *words, **options):
        """trainyard-launch WORDS, as a process of member 0 would call it."""
        return subprocess.run([PROGRAM, *words], env=self.environment(0, 1), text=True, capture_output=True,
                              timeout=PATIENCE, check=False, **options)

    def end(self):
        for name, child in list(self.clients.items()):
            child.kill()
            self.ended(name)
        for child in self.running.values():
            child.send_signal(signal.SIGTERM)
        for index in list(self.running):
            try:
                self.running[index].wait(self.grace + 5)
            except subprocess.TimeoutExpired:
                self.running[index].kill()
            self.ended(index)
