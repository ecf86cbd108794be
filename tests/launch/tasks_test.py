#!/usr/bin/python3
"""Tasks inside of a job, on members of this machine: 64 slots, and a hundred changes of size.

    tests/launch/tasks_test.py                 the tests
    tests/launch/tasks_test.py --measure 600   so many tasks of 1 s on 64 slots: which part of the slots' time is task time
"""
import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import launcher  # noqa: E402

IDLE = ["/bin/sleep", "1000000"]
# The coordinator's program keeps running through changes of size, like a program that distributes tasks.
KEEP = {"TRAINYARD_ON_RESIZE": "keep"}


def measure(members, slots, tasks):
    """Runs tasks of one second; gives task time / slots' time, with the client's start and end in it."""
    begun = time.monotonic()
    done = members.client("batch", input="exec sleep 1\n" * tasks)
    took = time.monotonic() - begun
    if done.returncode:
        raise AssertionError(f"batch ended with {done.returncode}: {done.stderr[-500:]}")
    print(f"{tasks} tasks of 1 s on {slots} slots: {took:.2f} s from the first word to the last, "
          f"{tasks / took / slots:.1%} of the slots' time is task time", flush=True)
    return tasks / took / slots


class Tasks(unittest.TestCase):
    def members(self, count, slots, **options):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-tasks-")
        self.addCleanup(folder.cleanup)
        members = launcher.Members(folder.name, lambda _: IDLE, slots=slots, extra=KEEP, **options)
        self.addCleanup(members.end)
        members.resize(count)
        self.ready(members)
        return members

    def ready(self, members):
        """Until the hub answers."""
        end = time.monotonic() + launcher.PATIENCE
        while members.client("tasks").returncode and time.monotonic() < end:
            pass

    def test_a_task_has_the_output_and_exit_status_of_its_program(self):
        job = self.members(2, 2)
        done = job.client("run", "/bin/sh", "-c", "echo out; echo err >&2; exit 5")
        self.assertEqual((done.returncode, sorted(done.stdout.split())), (5, ["err", "out"]))
        absent = job.client("run", "/no/such/program")
        self.assertEqual((absent.returncode, absent.stdout), (127, "trainyard-launch: /no/such/program: No such file or directory\n"))
        many = job.client("run", "/bin/sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
        self.assertEqual((many.returncode, len(many.stdout)), (0, 3000005))

    def test_submit_wait_output_cancel(self):
        job = self.members(1, 1)
        first, second = (job.client("submit", "/bin/sh", "-c", f"echo task {i}; exec sleep {s}").stdout.strip()
                         for i, s in ((1, 1000), (2, 0)))
        # One slot: the second task waits until the first is cancelled.
        self.assertRegex(job.client("tasks").stdout, f"(?m)^{second}\twaiting\t")
        self.assertEqual(job.client("cancel", first).returncode, 0)
        waited = job.client("wait", first, second)
        self.assertEqual(waited.returncode, 143)
        self.assertIn(f"{first} cancelled", waited.stdout)
        self.assertIn(f"{second} done 0", waited.stdout)
        self.assertEqual(job.client("output", second).stdout, "task 2\n")
        self.assertEqual(job.client("wait", "4711").returncode, 125)

    def test_connections_without_the_token_use_only_their_part(self):
        job = self.members(2, 2)
        untrusted = [socket.create_connection(("127.0.0.1", job.port)) for _ in range(300)]
        for each in untrusted:
            self.addCleanup(each.close)
        self.assertEqual(job.client("run", "/bin/true").returncode, 0)
        # The oldest connections are closed.
        untrusted[0].settimeout(launcher.PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            while untrusted[0].recv(4096):
                pass

    def test_a_client_without_the_token_gets_no_answer(self):
        job = self.members(1, 1)
        job.token.write_text("another-token")
        refused = job.client("run", "/bin/true")
        self.assertEqual(refused.returncode, 125)
        job.token.write_text("a-token-of-this-job")
        self.assertEqual(job.client("run", "/bin/true").returncode, 0)

    def test_tasks_of_a_lost_member_run_again_in_the_order_of_their_submission(self):
        report = "echo $TRAINYARD_TASK $TRAINYARD_TASK_ATTEMPT $TRAINYARD_INDEX; exec sleep 1000"
        job = self.members(1, 2)
        for member, tasks in ((0, "12"), (1, "34")):
            job.resize(member + 1)
            for task in tasks:
                job.start_client(task, "run", "/bin/sh", "-c", report)
                job.until(task, f"^{task} 1 {member}$")
        job.lose(1)
        self.assertEqual(job.client("cancel", "1").returncode, 0)
        job.until("3", "^3 2 0$")

    def test_tasks_that_ran_on_a_lost_member_run_again(self):
        # Each task prints its number, its attempt and the member that runs it.
        report = "echo $TRAINYARD_TASK $TRAINYARD_TASK_ATTEMPT $TRAINYARD_INDEX"
        # The coordinator's member must hold the first task. The hub breaks a tie between free members by the
        # order in which they connected, so the second member starts only when the first task runs.
        job = self.members(1, 1)
        job.start_client("first", "run", "/bin/sh", "-c", f"{report}; exec sleep 1000")
        job.until("first", "^1 1 0$")
        job.resize(2)
        job.start_client("second", "run", "/bin/sh", "-c",
                         f"{report}; test $TRAINYARD_TASK_ATTEMPT -gt 1 || exec sleep 1000")
        job.until("second", "^2 1 1$")
        job.lose(1)
        self.assertEqual(job.client("cancel", "1").returncode, 0)
        self.assertEqual((job.ended("first"), job.ended("second")), (143, 0))
        self.assertEqual([line for name, line in job.seen if name == "second"], ["2 1 1", "2 2 0"])

    def test_no_task_is_lost_over_a_hundred_changes_of_size(self):
        """Members join and leave; some tasks outlast the grace of those that leave."""
        job = self.members(2, 8, grace=1)
        count = 2000
        ends = job.folder / "ends"
        ends.mkdir()
        # Every hundredth task exceeds the grace period: it is killed with the leaving member and restarted.
        lines = "".join(f"echo x >> {ends}/{i}; sleep {2 if i % 100 == 1 else i % 10 / 10}; echo {i}\n" for i in range(count))
        results = []
        batch = threading.Thread(target=lambda: results.append(subprocess.run(
            [launcher.PROGRAM, "batch"], env=job.environment(0, 1), input=lines, text=True, capture_output=True, check=False)))
        batch.start()
        left = []
        for change in range(100):
            size = (4, 2, 3, 1)[change % 4]
            leaving = [index for index in job.running if index >= size]
            job.resize(size)
            left += [job.ended(index) for index in sorted(leaving)]
        self.assertEqual(set(left), {0})
        batch.join(300)
        self.assertEqual(results[0].returncode, 0, results[0].stderr[-2000:])
        said = sorted(map(int, results[0].stdout.split()))
        again = sum(len(path.read_text().split()) - 1 for path in ends.iterdir())
        print(f"{count} tasks over 100 changes of size: {len(said)} ended, {again} were begun once more", flush=True)
        self.assertEqual(said, list(range(count)))

    def test_sixty_four_slots(self):
        """All end; the use of the slots is printed here and required by --measure, because it also depends on the
        machine."""
        measure(self.members(4, 16), 64, 128)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        with tempfile.TemporaryDirectory() as scratch:
            four = launcher.Members(scratch, lambda _: IDLE, slots=16, extra=KEEP)
            four.resize(4)
            Tasks().ready(four)
            busy = measure(four, 64, int(sys.argv[2]))
            four.end()
            sys.exit(0 if busy >= 0.95 else "less than 95 %")
    else:
        unittest.main(verbosity=2)
