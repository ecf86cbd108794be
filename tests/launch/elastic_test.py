#!/usr/bin/python3
"""examples/trainyard_elastic.py with real PyTorch processes on this machine, at most four at a time.

    tests/launch/elastic_test.py            needs Debian's python3-torch; ends with 77 where it is not there

Prints the pause of every change of size, from the end of the last step before to the begin of the first one after.
"""
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import launcher  # noqa: E402

EXAMPLES = HERE.parent.parent / "examples"
# For interpreters that load PyTorch on a busy machine.
PATIENCE = 60
STEP = re.compile(r"step (\d+) rank (\d+) of (\d+) samples (\d+) weight (\S+) loss (\S+)")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Members:
    """The members of one job, each with a membership file of its own, as the kubelet writes it."""

    def __init__(self, folder, steps):
        self.folder, self.steps, self.port = Path(folder), steps, free_port()
        self.lines, self.seen, self.running, self.generation = queue.Queue(), [], {}, 0

    def write_membership(self, index, size):
        """Replaces one member's file."""
        file = self.folder / f"member-{index}"
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps({"generation": self.generation, "role": "worker", "size": size}))
        os.replace(fresh, file)

    def resize(self, size):
        """As the operator does it: new members start with the new size, then the running ones are notified."""
        self.generation += 1
        old = sorted(self.running)
        for index in range(size):
            if index not in self.running:
                self.start(index, size)
        for index in old:
            self.write_membership(index, size)

    def start(self, index, size):
        self.write_membership(index, size)
        env = {**os.environ, "TRAINYARD_MEMBERSHIP": str(self.folder / f"member-{index}"), "TRAINYARD_ROLE": "worker",
               "TRAINYARD_INDEX": str(index), "TRAINYARD_RANK": str(index), "TRAINYARD_SIZE": str(size),
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port), "GLOO_SOCKET_IFNAME": "lo",
               "OMP_NUM_THREADS": "1", "PYTHONPATH": str(EXAMPLES), "STEPS": str(self.steps),
               "CHECKPOINT": str(self.folder / "last.pt")}
        child = subprocess.Popen(["/usr/bin/python3", str(HERE / "toy_training.py")], env=env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.running[index] = child
        child.reader = threading.Thread(target=self.read, args=(index, child), daemon=True)
        child.reader.start()

    def read(self, index, child):
        for line in child.stdout:
            self.lines.put((index, line.rstrip()))

    def until(self, wanted, what):
        """Reads on until wanted(index, line) is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                index, line = self.lines.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                break
            self.seen.append((index, line))
            if wanted(index, line):
                return line
        raise AssertionError(f"{what} did not appear; the last lines:\n" + "\n".join(map(str, self.seen[-60:])))

    def until_size(self, size):
        return self.until(lambda _, line: re.match(rf"step \d+ rank 0 of {size} ", line), f"{size} members")

    def ended(self, index):
        child = self.running.pop(index)
        code = child.wait(PATIENCE)
        child.reader.join(PATIENCE)
        child.stdout.close()
        while not self.lines.empty():
            self.seen.append(self.lines.get())
        return code

    def progress(self):
        marker = "trainyard-progress: "
        return [json.loads(line[len(marker):]) for _, line in self.seen if line.startswith(marker)]

    def steps_of(self, rank):
        found = [STEP.fullmatch(line) for index, line in self.seen if index == rank]
        return [(int(m[1]), int(m[3]), int(m[4]), m[5], float(m[6])) for m in found if m]

    def end(self):
        for child in self.running.values():
            child.kill()
        for index in list(self.running):
            self.ended(index)


class Elastic(unittest.TestCase):
    def job(self, steps):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-elastic-")
        self.addCleanup(folder.cleanup)
        members = Members(folder.name, steps)
        self.addCleanup(members.end)
        return members

    def test_grows_from_two_to_four_and_shrinks_to_two(self):
        job = self.job(steps=1500)
        job.resize(2)
        job.until_size(2)
        job.resize(4)
        job.until_size(4)
        job.resize(2)
        # A member that leaves has not failed.
        self.assertEqual([job.ended(3), job.ended(2)], [0, 0])
        job.until(lambda _, line: line == "rank 0 done at step 1500", "the end")
        self.assertEqual([job.ended(index) for index in (1, 0)], [0, 0])

        steps = job.steps_of(0)
        # No step is repeated or skipped, the batch is the same at every size, and the loss decreases.
        self.assertEqual([step for step, *_ in steps], list(range(1500)))
        self.assertEqual({(world, samples) for _, world, samples, *_ in steps}, {(2, 64), (4, 32)})
        self.assertLess(sum(s[4] for s in steps[-50:]), sum(s[4] for s in steps[:50]) / 2)
        # All members have the same weights after each step: joining ones took rank 0's, and its Adam state.
        weights = {step: weight for step, _, _, weight, _ in steps}
        for rank in (1, 2, 3):
            theirs = job.steps_of(rank)
            self.assertGreater(len(theirs), 0)
            for step, _, _, weight, _ in theirs:
                self.assertEqual(weight, weights[step], f"rank {rank}, step {step}")
        pauses = [(line["replicas"], line["pauseMillis"]) for line in job.progress() if "pauseMillis" in line]
        self.assertEqual([size for size, _ in pauses], [4, 2])
        for size, millis in pauses:
            print(f"pause of the change to {size} members: {millis} ms", flush=True)
            self.assertLess(millis, 5000)
        self.assertEqual(job.progress()[-1]["step"], 1500)

    def test_a_lost_peer_is_replaced_without_a_step_lost(self):
        job = self.job(steps=600)
        job.resize(2)
        job.until(lambda _, line: line.startswith("step 20 rank 0"), "step 20")
        job.running[1].kill()
        job.ended(1)
        job.start(1, 2)
        job.until(lambda _, line: line == "rank 0 done at step 600", "the end")
        self.assertEqual([step for step, *_ in job.steps_of(0)], list(range(600)))
        self.assertEqual(job.steps_of(1)[-1][3], job.steps_of(0)[-1][3])

    def test_sigterm_of_rank_0_alone_is_no_success_of_the_others(self):
        job = self.job(steps=10_000)
        job.resize(2)
        job.until(lambda _, line: line.startswith("step 30 rank 1"), "step 30")
        job.running[0].send_signal(signal.SIGTERM)
        self.assertEqual([job.ended(index) for index in (0, 1)], [143, 143])

    def test_sigterm_writes_a_checkpoint_and_the_next_start_continues_from_it(self):
        job = self.job(steps=10_000)
        job.resize(2)
        job.until(lambda _, line: line.startswith("step 30 rank 1"), "step 30")
        for child in job.running.values():
            child.send_signal(signal.SIGTERM)
        self.assertEqual([job.ended(index) for index in (0, 1)], [143, 143])
        last = job.steps_of(0)[-1][0]
        job.seen.clear()
        job.steps = last + 20
        job.resize(2)
        job.until(lambda _, line: line == f"rank 0 done at step {last + 20}", "the end")
        self.assertEqual(job.steps_of(0)[0][0], last + 1)
        self.assertEqual(job.steps_of(1)[0][0], last + 1)


class Launched(unittest.TestCase):
    """The same under trainyard-launch, with a training that ignores sizes but saves on SIGTERM."""

    def test_grows_from_two_to_four_and_shrinks_to_two(self):
        steps = 2000
        folder = tempfile.TemporaryDirectory(prefix="trainyard-launched-")
        self.addCleanup(folder.cleanup)
        job = launcher.Members(folder.name, lambda _: ["/usr/bin/python3", str(HERE / "plain_training.py")], grace=20, settle=20,
                               extra={"STEPS": str(steps), "CHECKPOINT": f"{folder.name}/last.pt", "PACE": "0.01",
                                      "MASTER_PORT": str(free_port()), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"})
        self.addCleanup(job.end)
        job.resize(2)
        job.until(0, '"replicas": 2')
        job.resize(4)
        job.until(0, '"replicas": 4')
        job.resize(2)
        self.assertEqual([job.ended(3), job.ended(2)], [0, 0])
        self.assertEqual([job.ended(1), job.ended(0)], [0, 0])
        marker = "trainyard-progress: "
        said = [json.loads(line[len(marker):]) for member, line in job.seen if member == 0 and line.startswith(marker)]
        saved = [int(line.split()[-1]) for member, line in job.seen if member == 0 and line.startswith("saved at step")]
        self.assertEqual(len(saved), 2)
        pauses = [line for line in said if "pauseMillis" in line]
        # The step after that of the checkpoint.
        self.assertEqual([line["step"] for line in pauses], [step + 1 for step in saved])
        self.assertEqual([line["replicas"] for line in pauses], [4, 2])
        self.assertEqual(said[-1]["step"], steps)
        self.assertLess(said[-1]["loss"], said[0]["loss"] / 2)
        for line in pauses:
            print(f"under the launcher, pause of the change to {line['replicas']} members: {line['pauseMillis']} ms", flush=True)


if __name__ == "__main__":
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: /usr/bin/python3 has no torch (Debian: apt-get install python3-torch)")
        sys.exit(77)
    unittest.main(verbosity=2)
