#!/usr/bin/env python3
"""Writes the Dorm-like day beside itself: servers.csv and day-{light,medium,heavy}.csv. What it is and what of it is
assumed: README.md. The same seed writes the same files."""
import csv
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 1704
DAY = 24 * 3600  # s in which all are submitted
# 50 applications.
COUNTS = {"lr": 20, "mf": 20, "caffenet": 6, "vgg16": 1, "googlenet": 1, "alexnet": 1, "resnet50": 1}
# The work of all, as part of what the CPUs could do in the day if every container did nothing but its work.
LOADS = {"light": 0.3, "medium": 0.6, "heavy": 0.9}
SERVERS, CPUS, MEMORY_GIB, WITH_GPU = 20, 12, 128, 5
LONGEST = 6  # times the shortest work


def cpus_of():
    with (HERE / "applications.csv").open(encoding="utf-8") as table:
        return {row["application"]: float(row["cpu"]) for row in csv.DictReader(table)}


def write(name, header, rows):
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def main():
    draw = random.Random(SEED)
    kinds = [kind for kind, count in COUNTS.items() for _ in range(count)]
    draw.shuffle(kinds)
    # Poisson arrivals, stretched so that the first comes at 0 and the last at the end of the day.
    gaps = [0] + [draw.expovariate(1) for _ in kinds[1:]]
    times = [sum(gaps[:i + 1]) / sum(gaps) * DAY for i in range(len(gaps))]
    work = [LONGEST ** draw.random() for _ in kinds]  # log-uniform
    cpus = cpus_of()
    all_work = sum(part * cpus[kind] for part, kind in zip(work, kinds))
    for name, load in LOADS.items():
        unit = load * SERVERS * CPUS * DAY / all_work
        write(f"day-{name}.csv", ["name", "application", "submit_time", "work"],
              [[f"{kind}-{i:02d}", kind, f"{time:.0f}", f"{part * unit:.0f}"]
               for i, (kind, time, part) in enumerate(zip(kinds, times, work))])
    write("servers.csv", ["name", "cpu", "gpus", "memory_gib"],
          [[f"server-{i:02d}", CPUS, 1 if i < WITH_GPU else 0, MEMORY_GIB] for i in range(SERVERS)])


if __name__ == "__main__":
    main()
