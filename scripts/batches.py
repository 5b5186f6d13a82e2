#!/usr/bin/env python3
"""How large should a write be? Loads the devops data with several times the size that each store advises (stores/*/src/write_size.rs), in turns. Run by hand on a
quiet machine: all stores take half an hour. Prints medians, and where the advised size is over a tenth worse than the best whose client stays under 250 MB.

    batches.py [STORE[:LAYOUT]]...     all stores that are here by default
      SIZES="0.125 0.25 0.5 1 2 4" ROUNDS=2 SECONDS_EACH=4 HOURS=6 WORKERS=16 PROGRAM=target/release/sensormark
"""
import json, os, statistics, subprocess, sys, tempfile
from pathlib import Path

MOST_MB, WORSE = 250, 1.1
# Nine readings, one a table, hold 101 values.
VALUES = 101 / 9


def option(name, usual):
    return os.environ.get(name, usual)


def measure(on, size, folder):
    numbers = {"batch_times": size, "hosts": 100, "hours": option("HOURS", "6"), "more_hours": "", "workers": option("WORKERS", "16"),
               "load_seconds": option("SECONDS_EACH", "4"), "clients": 1, "queries": 1, "repetitions": 1}
    words = [word for name, value in numbers.items() for word in ("--set", f"{name}={value}")]
    words += ["--on", on, "--results", folder, "--progress", "quiet", "--tolerate-disturbance"]
    code = subprocess.run([option("PROGRAM", "target/release/sensormark"), "run", "devops", *words], stdout=subprocess.DEVNULL).returncode
    # 1: a trial is not valid, which the table leaves out.
    if code > 1:
        sys.exit(f"the run with {size} times the advised size ended with {code}")
    for file in Path(folder).glob("*/trials/*.json"):
        trial = json.loads(file.read_text())
        name = f"{trial['implementation']['title']} {trial['implementation']['layout_name']}"
        if trial["verdict"]["state"] != "valid":
            print(f"left out: {name}, {size} times: {trial['verdict']}", file=sys.stderr)
            continue
        for load in (load for load in trial["loads"] if load["writes"]):
            classes = load["classes"].values()
            readings = sum(one["readings"] for one in classes)
            roles = next(phase["totals"]["roles"] for phase in trial["phases"] if phase["name"] == load["phase"])
            cpu = [roles[role]["cpu_ns"] / 1e3 / readings / VALUES if role in roles else 0.0 for role in ("trial", "server")]
            yield name, (readings / sum(one["operations"] for one in classes), readings * VALUES / load["seconds"] / 1e6, *cpu, roles["trial"]["peak_resident_bytes"] / 1e6)


def main():
    on, sizes, seen = ",".join(sys.argv[1:]) or "all", option("SIZES", "0.125 0.25 0.5 1 2 4").split(), {}
    for turn in range(int(option("ROUNDS", "2"))):
        for size in sizes[::-1] if turn % 2 else sizes:
            with tempfile.TemporaryDirectory() as folder:
                for name, figures in measure(on, size, folder):
                    seen.setdefault(name, {}).setdefault(size, []).append(figures)
    print("| implementation | times the advised size | readings a write | M values/s | client CPU, µs a value | server CPU | client memory, MB |\n| --- | --- | --- | --- | --- | --- | --- |")
    notes = []
    for name, of_sizes in sorted(seen.items()):
        medians = {size: [statistics.median(column) for column in zip(*rows)] for size, rows in of_sizes.items()}
        for size, (write, rate, client, server, memory) in medians.items():
            print(f"| {name} | {size} | {write:.0f} | {rate:.3f} | {client:.4f} | {server:.3f} | {memory:.0f} |")
        costs = {size: (1 / rate, client + server) for size, (_, rate, client, server, memory) in medians.items() if memory < MOST_MB or not server}
        for place, what in enumerate(("rate", "CPU of both sides")):
            best = min(costs, key=lambda size: costs[size][place], default=None)
            if best and "1" in costs and costs["1"][place] > WORSE * costs[best][place]:
                notes.append(f"- {name}: {what} is {(costs['1'][place] / costs[best][place] - 1) * 100:.0f} % worse than with {best} times the size")
    print("\n".join(["", *notes] or ["", "Every advised size is within 10 % of the best."]))


main()
