"""D/cluster.json: the parts of a cluster, for later programs (down, status, another test)."""
import fcntl
import json
import os
from contextlib import contextmanager
from pathlib import Path

from . import processes
from .errors import E2EError

FILE = "cluster.json"
_VERSION = 1


class State:
    """The parsed file. Change it only inside edit()."""

    def __init__(self, folder, data):
        self.dir = Path(folder)
        self.data = data

    @classmethod
    def create(cls, folder, ports, spare, tools, options):
        data = {"version": _VERSION, "boot": processes.boot_id(), "base": min(ports.values()), "ports": ports,
                "spare": spare, "tools": {name: str(path) for name, path in tools.items()},
                "options": options, "processes": {}}
        state = cls(folder, data)
        state._write(data)
        return state

    @classmethod
    def load(cls, folder):
        path = Path(folder) / FILE
        try:
            data = json.loads(path.read_text())
        except FileNotFoundError:
            raise E2EError(f"{folder} holds no cluster ({FILE} is missing)") from None
        except ValueError as error:
            raise E2EError(f"{path} is damaged: {error}") from None
        if data.get("version") != _VERSION:
            raise E2EError(f"{path} was written by another e2e/cluster (version {data.get('version')})")
        if data["boot"] != processes.boot_id():
            # The machine was restarted since: none of the recorded processes can be alive.
            data["processes"] = {}
        return cls(folder, data)

    @contextmanager
    def edit(self):
        """Reloads, lets the caller change data, writes: several processes and threads may hold one cluster."""
        with open(self.dir / ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Another thread may reload meanwhile: what is written is what was changed here.
            data = State.load(self.dir).data if (self.dir / FILE).exists() else self.data
            yield data
            self._write(data)
            self.data = data

    def reload(self):
        self.data = State.load(self.dir).data

    def process(self, name):
        """The record of a process; knows the names to offer when there is none."""
        self.reload()
        try:
            return self.data["processes"][name]
        except KeyError:
            known = ", ".join(self.data["processes"]) or "none"
            raise E2EError(f"no process {name!r} in {self.dir} (there are: {known})") from None

    def _write(self, data):
        partial = self.dir / (FILE + ".partial")
        partial.write_text(json.dumps(data, indent=1) + "\n")
        os.replace(partial, self.dir / FILE)
