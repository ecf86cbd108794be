"""Starting, watching and ending processes by (pid, start time), so that a recycled pid is never hit."""
import os
import select
import signal
import subprocess
import time

from .errors import E2EError

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")

# Children of this very Python process, kept for their exit codes.
_children = {}


def environment():
    """This process' environment without proxies: everything here talks over loopback."""
    return {key: value for key, value in os.environ.items() if key.lower() not in _PROXIES}


def root_environment():
    """The same with the folders of system programs on PATH, which not every root shell has."""
    env = environment()
    return {**env, "PATH": env.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"}


def spawn(argv, log, cwd, keep_open=(), extra_env=None):
    """Starts argv in a session of its own, its output appended to log; returns (pid, start ticks)."""
    env = {**environment(), **(extra_env or {})}
    with open(log, "ab") as out:
        child = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                 cwd=cwd, env=env, start_new_session=True, pass_fds=keep_open)
    ticks = start_ticks(child.pid, zombie_too=True)
    _children[(child.pid, ticks)] = child
    return child.pid, ticks


def spawn_entering(enter, where, argv, log):
    """Starts argv in other namespaces by the program enter (e2e/tools/node/enter.c); returns (pid, start ticks).

    where: a pid whose namespaces are joined, or a network namespace's path. Its exit status is not available here.
    """
    read, write = os.pipe()
    try:
        with open(log, "ab") as out:
            words = [str(word) for word in (enter, where, write, *argv)]
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     env=root_environment(), pass_fds=(write,))
        os.close(write)
        write = None
        with open(read, encoding="ascii", closefd=False) as report:
            text = report.read()
        child.wait()
    finally:
        os.close(read)
        if write is not None:
            os.close(write)
    if not text:
        raise E2EError(f"{argv[0]} was not started; last lines of {log}:\n{tail(log)}")
    return int(text), start_ticks(int(text), zombie_too=True)


def start_ticks(pid, zombie_too=False):
    """Start time of a process in clock ticks since boot; None when it is gone (or waits to be reaped)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX" and not zombie_too:
        return None
    return int(fields[19])


def boot_id():
    """Start times only mean something within one boot."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def alive(pid, ticks):
    return pid is not None and start_ticks(pid) == ticks


def exit_text(pid, ticks):
    """How a dead process ended, as far as it is known: only its parent gets its status."""
    child = _children.get((pid, ticks))
    code = child.poll() if child else None
    if code is None:
        return "exit code unknown"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def send(pid, ticks, sig):
    """Signals the process if it is still the one meant; True when it was."""
    fd = _open(pid, ticks)
    if fd is None:
        return False
    try:
        signal.pidfd_send_signal(fd, sig)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)


def wait_gone(pid, ticks, timeout):
    """True when the process ended within timeout seconds."""
    fd = _open(pid, ticks)
    if fd is not None:
        try:
            poller = select.poll()
            poller.register(fd, select.POLLIN)
            if not poller.poll(max(0, timeout) * 1000):
                return False
        finally:
            os.close(fd)
    child = _children.get((pid, ticks))
    if child:
        child.wait()
    return True


def wait_stopped(pid, ticks):
    """After SIGSTOP: returns when all threads stand still. The one that takes the signal has to be scheduled first, and
    until then the others go on answering. A process that another one has started is not seen."""
    if (pid, ticks) in _children:
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def stop(pid, ticks, sig, timeout):
    """Signals, waits, and kills what does not obey within timeout seconds."""
    if send(pid, ticks, sig) and not wait_gone(pid, ticks, timeout):
        send(pid, ticks, signal.SIGKILL)
    wait_gone(pid, ticks, 10)


def stop_all(processes, timeout):
    """The same for [(pid, ticks, signal)], all at once."""
    deadline = time.monotonic() + timeout
    for pid, ticks, sig in processes:
        send(pid, ticks, sig)
    for pid, ticks, _ in processes:
        if not wait_gone(pid, ticks, deadline - time.monotonic()):
            send(pid, ticks, signal.SIGKILL)
    for pid, ticks, _ in processes:
        wait_gone(pid, ticks, 10)


def resident_mb(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (FileNotFoundError, ProcessLookupError):
        return 0


def own_mb(pid):
    """Resident megabytes that the process wrote itself: without the pages of its program and libraries, which come and
    go as the machine has room for them."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0


def peak_mb(pid):
    """The most memory that a process ever had resident; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return 0


def tail(log, lines=15):
    """The last lines of a log, indented."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - 20000))
            text = file.read().decode(errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        text = []
    return "\n".join("    " + line[:400] for line in text) or "    (no output)"


def _open(pid, ticks):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    # Compared only after the descriptor pins the process: from here on the pid cannot change hands.
    if start_ticks(pid) != ticks:
        os.close(fd)
        return None
    return fd
