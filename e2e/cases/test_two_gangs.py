"""Two gangs that fit only one at a time: one runs as a whole, the other has nothing at all and reports why it is pending.

Twenty plans (order, delay, namespaces, threads, a deletion, a resubmission) are drawn from a fixed seed and
printed. Every event of every pod is checked as it happens: at no instant do two gangs have unfinished pods.
"""
import random
import sys
import threading
import time
import unittest
from dataclasses import dataclass

import support
from support import condition, ended, gated, holds, job_of, node_of, phase, wait_phase

CLUSTER = {"nodes": 4}
SEED, PLANS = 20261, 20
SIZE = 4
RUN_FOR = "2s"
# Where in its life a job is deleted.
STAGES = ("submitted", "waiting", "first pod", "running")


@dataclass(frozen=True)
class Plan:
    number: int
    first: str                  # "a" or "b"
    gap: float                  # seconds between the two submissions
    same_namespace: bool
    together: bool              # by two threads at the same moment instead
    delete: str                 # "", or the stage at which a job is deleted
    resubmit: bool              # whether it then comes back under the same name

    def __str__(self):
        how = "at once" if self.together else f"{self.first} first, {self.gap:.2f} s apart"
        where = "one namespace" if self.same_namespace else "two namespaces"
        back = " and resubmitted" if self.resubmit else ""
        then = f", one deleted when {self.delete}{back}" if self.delete else ""
        return f"plan {self.number:2}: {how}, {where}{then}"


def draw_plans():
    source = random.Random(SEED)
    plans = []
    for number in range(PLANS):
        # Half of the plans delete; all stages come about equally often, whatever the seed.
        delete = STAGES[number // 2 % len(STAGES)] if number % 2 else ""
        plans.append(Plan(number=number, first=source.choice("ab"),
                          gap=source.choice([0, 0, 0.01, 0.05, 0.2, 0.7]),
                          same_namespace=source.random() < 0.5, together=source.random() < 0.35,
                          delete=delete, resubmit=bool(delete) and source.random() < 0.5))
    return plans


def blocked_by(namespace, job):
    """Run times of such jobs are recorded once a minute: from then on the message has the expected end of this one."""
    return rf"blocked by {namespace}/{job} \(4 nodes(, until about \S+Z, estimated from similar jobs)?\)"


class Invariant:
    """Looks at every pod event; remembers, for each life of a job, how many of its pods were ever bound."""

    def __init__(self):
        self.bound = {}         # uid of the job -> names of pods that were bound

    def __call__(self, kind, pod, objects):
        owner = pod["metadata"]["ownerReferences"][0]["uid"]
        bound = self.bound.setdefault(owner, set())
        if node_of(pod):
            bound.add(pod["metadata"]["name"])
        alive = {}
        for each in objects.values():
            if not ended(each):
                alive.setdefault(each["metadata"]["ownerReferences"][0]["uid"], []).append(each)
        if len(alive) > 1:
            lines = [f"{job_of(each)} {each['metadata']['name']} gated={gated(each)} node={node_of(each)} "
                     f"deleting={'deletionTimestamp' in each['metadata']}"
                     for pods in alive.values() for each in pods]
            raise AssertionError("two gangs have pods at the same time:\n  " + "\n  ".join(lines))


class TwoGangs(support.Case):
    def setUp(self):
        super().setUp()
        self.invariant = Invariant()

    def watches(self):
        return support.watch_jobs(), support.watch_pods(check=self.invariant)

    def make_spaces(self, plan):
        base = f"plan-{plan.number}"
        first = self.make_namespace(base)
        return {"a": first, "b": first if plan.same_namespace else self.make_namespace(base + "-other")}

    def submit(self, spaces, name):
        support.create_job(spaces[name], support.job(name, replicas=SIZE, run_for=RUN_FOR))

    def submit_both(self, plan, spaces):
        second = "b" if plan.first == "a" else "a"
        if not plan.together:
            self.submit(spaces, plan.first)
            time.sleep(plan.gap)
            return self.submit(spaces, second)
        barrier, errors = threading.Barrier(2), []

        def go(name):
            try:
                barrier.wait(10)
                self.submit(spaces, name)
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        threads = [threading.Thread(target=go, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        return None

    def check_waiting(self, job, other, spaces):
        """The pending job reports what it needs, what is free and which job has it, in numbers."""
        pending = job["status"]["pending"]
        self.assertEqual(pending["reason"], "WaitingForCapacity", pending)
        self.assertIn("needs 4 nodes with 8 nvidia.com/gpu each", pending["message"])
        self.assertRegex(pending["message"], blocked_by(spaces[other], other))
        [blocker] = pending["blockedBy"]
        self.assertEqual((blocker["namespace"], blocker["name"]), (spaces[other], other))
        self.assertEqual(phase(job), "Queued")
        self.assertEqual(condition(job, "Scheduled")["status"], "False")
        self.assertTrue(holds(job, "Queued"))

    def delete_at(self, plan, spaces, jobs, pods):
        """Deletes a job at the plan's stage; its name."""
        keys = {name: (spaces[name], name) for name in "ab"}

        def some(test):
            return lambda all_: next(
                (name for name, key in keys.items() if key in all_ and test(all_[key])), None)
        if plan.delete == "submitted":
            victim = plan.first
        elif plan.delete == "waiting":
            victim = jobs.wait(some(lambda job: job.get("status", {}).get("pending")), "one waits")
        elif plan.delete == "first pod":
            victim = pods.wait(lambda all_: next((job_of(pod) for pod in all_.values()), None), "a first pod")
        else:
            victim = jobs.wait(some(lambda job: phase(job) == "Running"), "one runs")
        support.delete_job(spaces[victim], victim)
        return victim

    def check_plan(self, plan):
        spaces = self.make_spaces(plan)
        jobs, pods = self.watches()
        with jobs, pods:
            self.submit_both(plan, spaces)
            gone = None
            if plan.delete:
                gone = self.delete_at(plan, spaces, jobs, pods)
                jobs.wait(lambda all_: (spaces[gone], gone) not in all_, f"{gone} is gone")
                if plan.resubmit:
                    self.submit(spaces, gone)
            left = [name for name in "ab" if name != gone or plan.resubmit]
            ends = {name: wait_phase(jobs, spaces[name], name, "Succeeded") for name in left}
            # What the watch objected to comes before all that follows from it.
            pods.wait(lambda all_: True, "no objection")
            if not plan.delete:
                self.check_story(jobs, spaces)
            self.check_counts(ends, pods)

    def check_story(self, jobs, spaces):
        """Exactly one waited for the other, and reported so. Its first message counts: while the members of the other
        one end, the numbers change."""
        waited = {}
        for _, item in jobs.events:
            if item.get("status", {}).get("pending", {}).get("blockedBy"):
                waited.setdefault(item["metadata"]["name"], item)
        self.assertEqual(len(waited), 1, f"waited: {sorted(waited)}")
        [(name, job)] = waited.items()
        self.check_waiting(job, "b" if name == "a" else "a", spaces)

    def check_counts(self, ends, pods):
        for uid, bound in self.invariant.bound.items():
            if any(job["metadata"]["uid"] == uid for job in ends.values()):
                self.assertEqual(len(bound), SIZE, "a job that ran has bound all its pods")
        kept = {}
        for pod in pods.objects.values():
            if node_of(pod):
                owner = pod["metadata"]["ownerReferences"][0]["uid"]
                kept[owner] = kept.get(owner, 0) + 1
        self.assertTrue(all(count == SIZE for count in kept.values()), f"bound pods at the end: {kept}")

    def test_one_runs_whole_and_the_other_has_nothing(self):
        spaces = {"a": self.namespace, "b": self.namespace}
        jobs, pods = self.watches()
        with jobs, pods:
            # No run-for: the first runs until its end is requested, so that everything can be inspected.
            support.create_job(self.namespace, support.job("a"))
            wait_phase(jobs, self.namespace, "a", "Running")
            support.create_job(self.namespace, support.job("b"))
            job = wait_phase(jobs, self.namespace, "b", "Queued")
            self.check_waiting(job, "a", spaces)
            self.assertEqual(len(support.members_now(self.namespace, "a")), SIZE)
            self.assertEqual(support.members_now(self.namespace, "b"), {})
            text = support.kubectl("get", "tj", "b", "-n", self.namespace, "-o", "wide")
            self.assertEqual(text.splitlines()[1].split()[:6],
                             ["b", "Queued", "default", "0/4", "32", "WaitingForCapacity"])
            text = support.kubectl("describe", "tj", "b", "-n", self.namespace)
            self.assertRegex(text, blocked_by(self.namespace, "a"))

            support.finish(self.namespace, "a")
            wait_phase(jobs, self.namespace, "a", "Succeeded")
            wait_phase(jobs, self.namespace, "b", "Running")
            self.assertEqual(sorted(map(node_of, support.members_now(self.namespace, "b").values())),
                             [f"n000{i}" for i in range(4)])
            support.finish(self.namespace, "b")
            wait_phase(jobs, self.namespace, "b", "Succeeded")


def _make_test(plan):
    def test(self):
        self.check_plan(plan)
    test.__doc__ = str(plan)
    return test


print(f"seed {SEED}", file=sys.stderr)
for _plan in draw_plans():
    print(_plan, file=sys.stderr)
    setattr(TwoGangs, f"test_plan_{_plan.number:02}", _make_test(_plan))


if __name__ == "__main__":
    unittest.main()
