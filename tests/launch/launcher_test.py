#!/usr/bin/python3
"""trainyard-launch with real processes; the program is $TRAINYARD_LAUNCH_BIN, or that of the release build."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import launcher  # noqa: E402

# Prints its environment; on SIGTERM it writes its "checkpoint" and ends with its own exit code.
TRAINER = ["/bin/sh", "-c", 'trap "echo saved; exit 7" TERM; '
           'echo "rank $RANK of $WORLD_SIZE port $MASTER_PORT generation $TRAINYARD_GENERATION"; '
           'while :; do sleep 0.05; done']


def alone(*command, **more):
    env = {**os.environ, **{name: str(value) for name, value in more.items()}}
    return subprocess.run([launcher.PROGRAM, "exec", "--", *command], env=env, capture_output=True, text=True,
                          timeout=launcher.PATIENCE, check=False)


class Launcher(unittest.TestCase):
    def members(self, command, **options):
        folder = tempfile.TemporaryDirectory(prefix="trainyard-launch-")
        self.addCleanup(folder.cleanup)
        members = launcher.Members(folder.name, command, **options)
        self.addCleanup(members.end)
        return members

    def test_exit_codes_and_output_pass_through(self):
        done = alone("/bin/sh", "-c", "cat; echo out; echo err >&2; exit 42")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (42, "out\n", "err\n"))
        self.assertEqual(alone("/bin/sh", "-c", "kill -9 $$").returncode, 128 + 9)
        absent = alone("/no/such/program")
        self.assertEqual((absent.returncode, absent.stderr),
                         (127, "trainyard-launch: /no/such/program: No such file or directory\n"))
        self.assertEqual(subprocess.run([launcher.PROGRAM, "exec"], capture_output=True, check=False).returncode, 2)

    def test_signals_pass_through(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            child = subprocess.Popen([launcher.PROGRAM, "exec", "--", "/bin/sh", "-c",
                                      f'trap "exit {number}" {number}; echo up; while :; do sleep 0.05; done'],
                                     stdout=subprocess.PIPE, text=True)
            self.assertEqual(child.stdout.readline(), "up\n")
            child.send_signal(number)
            self.assertEqual(child.wait(launcher.PATIENCE), number)
            child.stdout.close()

    def test_orphans_are_reaped_and_do_not_outlive_the_program(self):
        # The grandchild keeps the pipe open: read() returns because the grandchild was killed.
        done = alone("/bin/sh", "-c", "(setsid sleep 1000 &) ; (sleep 1000 &) ; echo over")
        self.assertEqual((done.returncode, done.stdout), (0, "over\n"))

    def test_grows_and_shrinks_in_place(self):
        job = self.members(lambda _: TRAINER)
        job.resize(2)
        for index in (0, 1):
            self.assertEqual(job.until(index, "^rank"), f"rank {index} of 2 port 29501 generation 1")
        pids = {index: child.pid for index, child in job.running.items()}
        job.resize(4)
        for index in range(4):
            self.assertEqual(job.until(index, "^rank"), f"rank {index} of 4 port 29502 generation 2")
        job.resize(2)
        self.assertEqual([job.ended(2), job.ended(3)], [0, 0])
        for index in (0, 1):
            self.assertEqual(job.until(index, "^rank"), f"rank {index} of 2 port 29503 generation 3")
        self.assertEqual({index: child.pid for index, child in job.running.items()}, pids)
        # Each member wrote its checkpoint before every change: two of two, then all four.
        self.assertEqual(len([1 for _, line in job.seen if line == "saved"]), 6)
        job.signal(0, signal.SIGTERM)
        self.assertEqual(job.ended(0), 7)

    def test_a_process_of_a_script_has_its_time_to_end(self):
        # The shell ends by SIGTERM at once; its child is in its process group, and saves.
        inner = 'trap "sleep 0.5; echo saved; exit 0" TERM; echo up; while :; do sleep 0.05; done'
        job = self.members(lambda _: ["/bin/sh", "-c", f"/bin/sh -c '{inner}'; true"])
        job.resize(1)
        job.until(0, "^up$")
        job.resize(2)
        job.until(0, "^saved$")
        job.until(0, "^up$")

    def test_no_process_of_the_former_program_is_left(self):
        # The innermost process has its own session; it becomes the launcher's child when its parent is gone.
        inner = "setsid /bin/sh -c \"echo pid \\$\\$; exec sleep 1000\" & wait"
        job = self.members(lambda _: ["/bin/sh", "-c", f"/bin/sh -c '{inner}'; true"])
        job.resize(1)
        before = job.until(0, "^pid").split()[1]
        job.resize(2)
        after = job.until(0, "^pid").split()[1]
        self.assertNotEqual(before, after)
        self.assertFalse(Path(f"/proc/{before}").exists(), "it runs beside its successor")

    def test_a_member_without_a_rank_runs_once(self):
        job = self.members(lambda _: ["/bin/sh", "-c", "echo up; sleep 1; echo over"], extra={"TRAINYARD_RANK": ""})
        job.resize(1)
        job.until(0, "^up$")
        job.resize(2)
        self.assertEqual(job.ended(0), 0)
        self.assertEqual([line for index, line in job.seen if index == 0 and line == "over"], ["over"])

    def test_a_program_that_does_not_end_within_the_grace_is_killed(self):
        job = self.members(lambda _: ["/bin/sh", "-c", 'trap "" TERM; echo "up $WORLD_SIZE as $$"; while :; do sleep 0.05; done'],
                           grace=1)
        job.resize(1)
        job.until(0, "up 1")
        job.generation += 1
        job.write_membership(0, 2)
        os.kill(int(job.until(0, "up 2").split()[-1]), signal.SIGKILL)
        job.signal(0, signal.SIGTERM)
        self.assertEqual(job.ended(0), 128 + 9)

    def test_a_failure_is_ignored_when_the_new_size_follows(self):
        # Ends with an error at once, until it gets the new size.
        job = self.members(lambda _: ["/bin/sh", "-c", 'echo "at $WORLD_SIZE"; test "$WORLD_SIZE" = 2'], settle=30)
        job.resize(1)
        job.until(0, "at 1")
        job.generation += 1
        job.write_membership(0, 2)
        job.until(0, "at 2")
        self.assertEqual(job.ended(0), 0)

    def test_one_member_with_the_new_size_is_enough(self):
        job = self.members(lambda _: TRAINER)
        job.resize(3)
        for index in range(3):
            job.until(index, "^rank")
        # The kubelets of 0 and 1 are slow.
        job.generation += 1
        job.write_membership(2, 3)
        for index in range(3):
            self.assertEqual(job.until(index, "^rank"), f"rank {index} of 3 port 29502 generation 2")
        # The late file changes nothing, and a leaving member also learns of it from other members.
        for index in range(3):
            job.write_membership(index, 3)
        job.generation += 1
        job.write_membership(1, 2)
        self.assertEqual(job.ended(2), 0)
        for index in range(2):
            self.assertEqual(job.until(index, "^rank"), f"rank {index} of 2 port 29503 generation 3")

    def test_a_joining_member_restarts_no_other(self):
        job = self.members(lambda _: TRAINER)
        job.resize(1)
        job.until(0, "^rank")
        job.generation += 1
        job.start(1, 2)
        job.until(1, "^rank 1 of 2")
        self.assertNotIn((0, "saved"), job.seen)
        job.write_membership(0, 2)
        job.until(0, "^rank 0 of 2")

    def test_a_failure_counts_once_the_time_for_a_new_size_is_over(self):
        job = self.members(lambda _: ["/bin/sh", "-c", "exit 3"], settle=1)
        job.resize(1)
        self.assertEqual(job.ended(0), 3)

    def test_a_program_that_follows_its_membership_itself_continues(self):
        job = self.members(lambda _: TRAINER, extra={"TRAINYARD_ON_RESIZE": "keep"})
        job.resize(2)
        for index in (0, 1):
            job.until(index, "^rank")
        job.resize(1)
        self.assertEqual(job.ended(1), 0)
        self.assertEqual([line for member, line in job.seen if member == 0 and line == "saved"], [])

    def test_installs_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([launcher.PROGRAM, "install", folder], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            again = subprocess.run([f"{folder}/trainyard-launch", "--version"], capture_output=True, check=True)
            self.assertIn(b"trainyard-launch", again.stdout)
            self.assertEqual(os.listdir(folder), ["trainyard-launch"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
