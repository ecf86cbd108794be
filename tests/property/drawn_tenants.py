#!/usr/bin/env python3
"""Draws small clusters with tenants that do their worst, and holds the promises of docs/preemption.md against them.

usage: tests/property/drawn_tenants.py --runner scenario_runner [--from SEED] [--count N] [--kind KIND]
                                       [--keep DIR] [--print]

Each seed is one scenario file (docs/scenarios.md) that the whole operator runs through in virtual time. Four kinds:
  guarantee  a gang within its queue's guarantee, or two at once, start within minRuntime + grace + 10 s, whatever
             tenants of other queues create, delete, scale, suspend, never end and lie about
  holder     a gang that waits for what runs before it starts within the larger of minRuntime and
             backfill.reservationLimit + twice the grace + 10 s after that has ended, whatever has been started since
  end        jobs that end by themselves all end, with any preemptions among them
  limit      as guarantee, below a limit that jobs without guarantees fill; some of them were suspended or deleted and
             terminate slowly, the others are gone in time; the gang may first wait for one rack
A scenario that fails is printed with its seed.
"""
import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SLACK = 10  # what docs/preemption.md adds to minRuntime and grace
SETTLE = 3  # kubelets and kube-scheduler of the simulation
CORES = 64  # of a node
BATCH = 50


class Draw:
    """One scenario, as text."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.events = []
        self.gpus = self.rng.choice([4, 8])
        self.nodes = self.rng.randint(2, 5)
        self.total = self.gpus * self.nodes
        self.grace = self.rng.choice([0, 0, 2, 20])
        self.min_runtime = self.rng.choice([5, 60])
        self.reservation_limit = self.rng.choice([20, 90])
        self.lines = []

    def at(self, second, *statements):
        self.events.append((second, statements))

    def policy(self, ordering):
        slicing = self.rng.random() < 0.3
        self.lines += ["policy", f"  ordering: {ordering}", "  preemption:", f"    minRuntime: {self.min_runtime}s",
                       "  backfill:", f"    reservationLimit: {self.reservation_limit}s"]
        self.lines += ["  timeSlicing:", f"    enabled: {'true' if slicing else 'false'}", "    interval: 20s"]
        self.lines.append(f"nodes n1..n{self.nodes} gpus={self.gpus} cpu={CORES}")
        self.lines += [f"class p{i} {i}" for i in range(1, 5)]

    def text(self, title):
        out = [f"scenario {title}", *self.lines, ""]
        last = max(second for second, statements in self.events if any(each.startswith("expect") for each in statements))
        for second, statements in sorted(self.events, key=lambda each: each[0]):
            if second > last:
                break
            out.append(f"at {second}s")
            out += [f"  {each}" for each in statements]
        return "\n".join(out) + "\n"

    def part(self, gpus):
        """The cores that a guarantee of so many GPUs covers."""
        return CORES * self.nodes * gpus // self.total

    def stops(self):
        return f" stops-in={self.grace}s" if self.grace else ""

    # A job that never ends, and the actions of its tenant.
    def attack(self, name, queue, second, firm=False):
        rng = self.rng
        gpus = rng.choice([1, 1, 2, self.gpus])
        most = max(1, self.total // gpus)
        members = rng.randint(1, most)
        attributes = [f"queue={queue}"] if queue else []
        if rng.random() < 0.5:
            attributes.append(f"estimate={rng.choice(['1s', '30s', '10h'])}")
        if rng.random() < 0.3:
            attributes.append("checkpoint=Signal,every:10s,restart:1s")
        if queue and rng.random() < 0.4:
            attributes.append(f"priority=p{rng.randint(1, 4)}")
        if firm and rng.random() < 0.2:
            attributes.append("preemptible=no")
        kind = rng.choice(["plain", "youth", "flap", "suspend", "again", "cpu", "restart", "helper"])
        role = f"role worker x{members} gpus={gpus} cpu=1{self.stops()}"
        if kind == "cpu":
            role = f"role worker x{self.nodes} cpu={rng.choice([40, 63])}{self.stops()}"
        if kind == "flap" and members > 1:
            attributes.append(f"elastic=worker:1..{members}")
        if kind == "youth":
            attributes.append("restart-scope=Pod")
        statements = [" ".join([f"job {name}", *attributes]), role]
        if kind == "youth":
            statements.append("role helper x1 cpu=1")
        self.at(second, *statements)
        if kind == "youth":
            for again in range(second + 4, second + 90, rng.choice([3, 4, 7])):
                self.at(again, f"delete pod {name}-helper-0")
        if kind == "flap" and members > 1:
            for i, again in enumerate(range(second + 4, second + 90, 4)):
                self.at(again, f"scale {name} {1 if i % 2 == 0 else members}")
        if kind == "helper":
            statements.append(f"role helper x{self.nodes} cpu={rng.choice([30, 60])}{self.stops()}")
        if kind == "restart":
            for again in range(second + 4, second + 150, rng.choice([3, 11])):
                self.at(again, f"delete pod {name}-worker-0")
        if kind == "again":
            for again in range(second + 7, second + 150, 40):
                self.at(again, f"delete job {name}")
                self.at(again + self.grace + 5, *statements)
        if kind == "suspend":
            for again in range(second + 6, second + 90, 12):
                self.at(again, f"suspend {name}")
                self.at(again + 3, f"resume {name}")


def guarantee(seed):
    draw = Draw(seed)
    rng = draw.rng
    draw.policy(rng.choice(["fifo", "default", "las", "srsf"]))
    own = rng.randint(1, draw.total)
    left = draw.total - own
    draw.lines.append(f"queue own guaranteed:gpus={own}" + rng.choice(["", " weight=3"]))
    queues = rng.randint(1, 3)
    for i in range(1, queues + 1):
        share = rng.randint(0, left) if rng.random() < 0.5 else 0
        left -= share
        # What all queues are guaranteed must fit into the cluster.
        cores = rng.randint(1, draw.part(left)) if draw.part(left) > 0 and rng.random() < 0.3 else 0
        left -= -(-cores * draw.total // (CORES * draw.nodes))
        parent = f" parent=evil{rng.randint(1, i - 1)}" if i > 1 and rng.random() < 0.3 else ""
        draw.lines.append(f"queue evil{i}{parent}" + (f" guaranteed:gpus={share}" if share else "")
                          + (f" guaranteed:cpu={draw.part(share) + cores}" if cores else ""))
    # Single GPUs: a guarantee does not determine the nodes of its GPUs.
    for i in range(rng.randint(1, 6)):
        draw.attack(f"bad/a{i}", f"evil{rng.randint(1, queues)}", rng.randint(0, 60), firm=True)
    asked = rng.randint(1, own)
    begin = rng.randint(35, 60)
    gangs = {"mine": asked}
    if asked < own and rng.random() < 0.4:
        gangs["other"] = rng.randint(1, own - asked)
    for name, members in gangs.items():
        draw.at(begin, f"job good/{name} queue=own", f"role worker x{members} gpus=1 cpu=1 runs-for=30m")
    draw.at(begin + draw.min_runtime + draw.grace + SLACK + SETTLE, *[f"expect good/{name} runs" for name in gangs])
    return draw.text(f"a guarantee is met in time, seed {seed}")


def holder(seed):
    draw = Draw(seed)
    rng = draw.rng
    draw.policy("fifo")
    old = rng.randint(30, 60)
    first = rng.randint(1, draw.total)
    stated = rng.choice(["", f" estimate={old}s", " estimate=20h"])  # longer than those who come after it state
    draw.at(0, f"job old/first{stated}", f"role worker x{first} gpus=1 cpu=1 runs-for={old}s")
    draw.at(5, "job good/large", f"role worker x{draw.total} gpus=1 cpu=1 runs-for=30m")
    for i in range(rng.randint(1, 8)):
        draw.attack(f"bad/a{i}", None, rng.randint(6, old + 5))
    lent = max(draw.min_runtime, draw.reservation_limit)
    draw.at(old + 5 + lent + 2 * draw.grace + SLACK + SETTLE, "expect good/large runs")
    return draw.text(f"a holder starts in time, seed {seed}")


def end(seed):
    draw = Draw(seed)
    rng = draw.rng
    draw.policy(rng.choice(["fifo", "default", "las", "srsf"]))
    queues = rng.randint(2, 4)
    left = draw.total
    for i in range(1, queues + 1):
        share = rng.randint(0, left) if rng.random() < 0.5 else 0
        left -= share
        cores = rng.randint(1, 40) if rng.random() < 0.3 else 0
        limit = rng.randint(max(share, draw.total // 2), draw.total) if rng.random() < 0.4 else None
        draw.lines.append(f"queue q{i} weight={rng.randint(1, 3)}" + (f" guaranteed:gpus={share}" if share else "")
                          + (f" guaranteed:cpu={cores}" if cores else "") + (f" limit:gpus={limit}" if limit else ""))
    draw.lines += ["class high 1000", "class middle 500"]
    names = []
    for i in range(rng.randint(3, 10)):
        gpus = rng.choice([1, 1, 2, draw.gpus])
        cores = rng.choice([1, 1, 8, 40])
        most = min(draw.total // 2 // gpus, draw.nodes * min(draw.gpus // gpus, CORES // cores))
        members = rng.randint(1, max(1, most))
        attributes = [f"queue=q{rng.randint(1, queues)}"]
        if rng.random() < 0.4:
            attributes.append(f"priority={rng.choice(['high', 'middle'])}")
        run = rng.randint(5, 40)
        if rng.random() < 0.6:
            attributes.append(f"estimate={rng.choice([run, run, 1, 300])}s")
        if rng.random() < 0.4:
            attributes.append("checkpoint=Signal,every:2s,restart:1s")
        if rng.random() < 0.3 and members > 1:
            attributes.append(f"elastic=worker:1..{members}")
        names.append(f"ml/j{i}")
        draw.at(rng.randint(0, 40), " ".join([f"job ml/j{i}", *attributes]),
                f"role worker x{members} gpus={gpus} cpu={cores} runs-for={run}s")
    draw.at(3600, *[f"expect {name} ended Succeeded" for name in names])
    return draw.text(f"jobs that end all end, seed {seed}")


SLOW = 300  # the grace of the jobs that terminate slowly


def limit(seed):
    draw = Draw(seed)
    rng = draw.rng
    draw.nodes = max(draw.nodes, 3)
    draw.total = draw.gpus * draw.nodes
    draw.policy(rng.choice(["fifo", "default", "las", "srsf"]))
    racks = rng.randint(1, 3)
    draw.lines = [each for each in draw.lines if not each.startswith("nodes ")]
    draw.lines += [f"nodes n{i} gpus={draw.gpus} cpu={CORES} rack=r{i % racks}" for i in range(1, draw.nodes + 1)]
    slow = rng.randint(0, draw.nodes - 2)
    most = draw.total - rng.choice([0, 0, draw.gpus])
    own = rng.randint(1, most - slow * draw.gpus)
    queues = rng.randint(1, 2)
    draw.lines += [f"queue p limit:gpus={most}", f"queue own parent=p guaranteed:gpus={own}",
                   *[f"queue evil{i} parent=p weight={rng.randint(1, 3)}" for i in range(1, queues + 1)]]
    stop = draw.min_runtime + rng.randint(1, 20)
    for i in range(slow):
        draw.at(0, f"job bad/slow{i} queue=evil{rng.randint(1, queues)}",
                f"role worker x{rng.choice([1, draw.gpus])} gpus={draw.gpus} cpu=1 stops-in={SLOW}s"
                .replace(f"x{draw.gpus} gpus={draw.gpus}", f"x{draw.gpus} gpus=1"))
        draw.at(stop, f"{rng.choice(['suspend', 'delete job'])} bad/slow{i}")
    left, i = most - slow * draw.gpus, 0
    while left > 0:
        members = rng.randint(1, left)
        elastic = f" elastic=worker:1..{members}" if members > 1 and rng.random() < 0.3 else ""
        draw.at(rng.choice([1, 1, stop - 3, stop]), f"job bad/quick{i} queue=evil{rng.randint(1, queues)}{elastic}",
                f"role worker x{members} gpus=1 cpu=1{draw.stops()}")
        left, i = left - members, i + 1
    begin = stop + rng.choice([1, 3, 20])
    is_elastic = any("elastic" in each for _, statements in draw.events for each in statements)
    patience = rng.choice([1, 1, 30])  # by default a gang waits longer for one rack
    levels = f" levels=rack:{patience}s"
    gangs = {"mine": rng.randint(1, own)}
    if gangs["mine"] < own and rng.random() < 0.5:
        gangs["other"] = rng.randint(1, own - gangs["mine"])
    for name, members in gangs.items():
        draw.at(begin, f"job good/{name} queue=own{levels}", f"role worker x{members} gpus=1 cpu=1 runs-for=30m")
    # A victim may be shrinking for the other gang.
    grace = 2 * draw.grace if is_elastic and len(gangs) > 1 else draw.grace
    draw.at(begin + patience + draw.min_runtime + grace + SLACK + SETTLE, *[f"expect good/{name} runs" for name in gangs])
    return draw.text(f"a guarantee below a limit is met in time, seed {seed}")


KINDS = [guarantee, holder, end, limit]


def scenario(seed, kinds):
    return kinds[seed % len(kinds)](seed)


def run(runner, directory, seeds, kinds):
    """Returns the seeds whose scenarios fail, with what the runner printed."""
    paths = {}
    for seed in seeds:
        path = Path(directory) / f"{seed}.scenario"
        path.write_text(scenario(seed, kinds))
        paths[seed] = path
    done = subprocess.run([runner, *paths.values()], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return {}
    failures = {}
    for seed, path in paths.items():
        alone = subprocess.run([runner, path], capture_output=True, text=True, check=False)
        if alone.returncode != 0:
            failures[seed] = alone.stdout + alone.stderr
    return failures or {seeds[0]: done.stdout + done.stderr}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", required=True, help="the program scenario_runner")
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="SEED")
    parser.add_argument("--count", type=int, default=100, metavar="N")
    parser.add_argument("--keep", metavar="DIR", help="keep the files of scenarios that fail here")
    parser.add_argument("--until-found", action="store_true", help="stop after the first batch in which one fails")
    parser.add_argument("--print", action="store_true", dest="show", help="print the scenario of the first seed")
    parser.add_argument("--kind", choices=[each.__name__ for each in KINDS], help="only this kind")
    args = parser.parse_args()
    kinds = [each for each in KINDS if args.kind in (None, each.__name__)]
    if args.show:
        print(scenario(args.first, kinds), end="")
        return 0
    failed = 0
    for begin in range(args.first, args.first + args.count, BATCH):
        seeds = list(range(begin, min(begin + BATCH, args.first + args.count)))
        with tempfile.TemporaryDirectory() as directory:
            failures = run(args.runner, directory, seeds, kinds)
        for seed, output in failures.items():
            failed += 1
            print(f"seed {seed} fails:\n{scenario(seed, kinds)}\n{output}")
            if args.keep:
                Path(args.keep).mkdir(parents=True, exist_ok=True)
                (Path(args.keep) / f"{seed}.scenario").write_text(scenario(seed, kinds))
        if failed and args.until_found:
            break
    print(f"{args.count} clusters from seed {args.first}: {failed} break a promise")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
