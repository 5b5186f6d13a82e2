#!/usr/bin/env python3
"""Draws what scripts/long-run.py kept, and puts its figures into the note: long-run-plots.py FOLDER DOCS.

Plots go to DOCS/long-run/*.svg; DOCS/long-run.md gets its tables between the two marks.
"""

import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

COLOURS = {"postgresql": "#336791", "influxdb": "#d9480f", "sqlite": "#2b8a3e"}
NAMES = {"postgresql": "PostgreSQL", "influxdb": "InfluxDB", "sqlite": "SQLite"}
# Operations a second of scripts/long-run.toml: 6 writes, 12 questions.
RATE = 18.0
# What a trial needs to fill its buffers is no slope of the hours after it.
SETTLED_SECONDS = 300
MARKS = ("<!-- figures: scripts/long-run.sh draw -->", "<!-- end of figures -->")


def lines(path):
    """Complete lines alone: the last one may still be written."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


class Store:
    """What was seen of one store's run."""

    def __init__(self, folder):
        self.key = folder.name
        self.name = NAMES.get(self.key, self.key)
        self.colour = COLOURS.get(self.key, "black")
        self.samples = lines(folder / "samples.jsonl")
        self.events = lines(folder / "events.jsonl")
        self.reports = lines(folder / "reports.jsonl")
        self.folder = folder

    def series(self, role, figure):
        """Instants and values of the coordinator or of the trial's process, with a gap between two processes."""
        times, values, before = [], [], None
        for sample in self.samples:
            # A process that the coordinator has just forked is a second one of its name for a moment: the first is the run.
            found = next((one for one in sample["processes"] if one["role"] == role), None)
            if found is None or (before is not None and found["pid"] != before):
                times.append(sample["t"] / 60)
                values.append(float("nan"))
            if found:
                before = found["pid"]
                times.append(sample["t"] / 60)
                values.append(found[figure])
        return times, values

    def steady(self):
        """Trials: the samples of each one's mixed phase."""
        trials = {}
        for sample in self.samples:
            if sample["phase"] == "mixed" and sample["done"] > 0:
                trials.setdefault(sample["trial"], []).append(sample)
        return trials

    def slope(self, role, figure):
        """Growth an hour within a trial, by least squares over the longest one after its first minutes."""
        longest = max(self.steady().values(), key=len, default=[])
        longest = [one for one in longest if one["t"] - longest[0]["t"] >= SETTLED_SECONDS]
        points = [(sample["t"] / 3600, one[figure]) for sample in longest for one in sample["processes"] if one["role"] == role]
        return least_squares(points)

    def behind(self):
        """By trial: minutes, and operations behind (−) or ahead (+) of the rate, from the first sample of the phase on."""
        found = []
        for trial, samples in self.steady().items():
            first = samples[0]
            origin = first["t"] - first["done_age"]
            points = [(one["t"] / 60, one["done"] - first["done"] - RATE * (one["t"] - one["done_age"] - origin)) for one in samples]
            found.append((trial, points))
        return found

    def estimates(self):
        """What was said of the time left and what it was: seconds said, seconds true where the run has ended by itself."""
        said = [(event["t"], event["data"]) for event in self.events if event["event"] == "time_left"]
        ended = next((event["t"] for event in self.events if event["event"] == "ended" and event["data"]["code"] == 0), None)
        trials = self.ends()
        rows = []
        for number, (at, data) in enumerate(said):
            if number < len(trials):
                rows.append((number + 1, data["now"], trials[number] - at))
        whole = next((event["data"]["seconds"] for event in self.events if event["event"] == "started"), None)
        return rows, whole, ended

    def ends(self):
        """When each whole trial ended."""
        return [event["t"] for event in self.events if event["event"] == "trial_finished" and not interrupted(event)]

    def verdicts(self):
        return [event["data"]["verdict"]["state"] + (" (interrupted)" if interrupted(event) else "")
                for event in self.events if event["event"] == "trial_finished"]

    def pacing(self):
        """The longest waits that the engine itself made, of each whole trial: 99th percentile, in ms, by load."""
        found = []
        for file in sorted(self.folder.glob("results/*/trials/*.json")):
            record = json.loads(file.read_text())
            values = [load.get("pacing_p99_ns") for load in record["loads"] if load["phase"] == "mixed"]
            found.append(max((value for value in values if value is not None), default=None))
        return found


def interrupted(event):
    return any(reason["kind"] == "interrupted" for reason in event["data"]["verdict"].get("reasons", []))


def least_squares(points):
    if len(points) < 3:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else None


def axes(title, rows, height):
    figure, every = plt.subplots(rows, 1, figsize=(9, height * rows), sharex=True, squeeze=False)
    figure.suptitle(title, fontsize=11)
    every[-1][0].set_xlabel("minutes since the start")
    for one in every:
        one[0].grid(alpha=0.3)
    return figure, [one[0] for one in every]


def save(figure, place, name):
    figure.tight_layout()
    figure.savefig(place / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def draw_processes(stores, place, name, title, panels, scale=1.0):
    figure, every = axes(title, len(panels), 2.4)
    for axis, (role, field, label) in zip(every, panels):
        for store in stores:
            times, values = store.series(role, field)
            axis.plot(times, [value / scale for value in values], color=store.colour, label=store.name, linewidth=1.2)
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
    every[0].legend(loc="upper left", ncols=3, fontsize=8)
    save(figure, place, name)


def draw_disk(stores, place):
    figure, (own, database) = axes("Disk: what sensormark keeps, and beside it the databases", 2, 2.4)
    for store in stores:
        times = [one["t"] / 60 for one in store.samples]
        kept = [(one["results"]["bytes"] + one["state"]["bytes"]) / 1e6 for one in store.samples]
        own.plot(times, kept, color=store.colour, label=store.name, linewidth=1.2)
        database.plot(times, [one["state"]["database_bytes"] / 1e6 for one in store.samples], color=store.colour, linewidth=1.2)
    own.set_ylabel("sensormark, MB")
    database.set_ylabel("databases, MB")
    own.legend(loc="upper left", fontsize=8)
    save(figure, place, "disk")


def draw_pacing(stores, place):
    figure, (behind, load) = axes(f"Pacing: operations ahead (+) or behind (−) of {RATE:.0f} a second", 2, 2.4)
    for store in stores:
        for _, points in store.behind():
            behind.plot(*zip(*points), color=store.colour, linewidth=1.0)
        behind.plot([], [], color=store.colour, label=store.name)
    longest = max(stores, key=lambda store: len(store.samples))
    load.plot([one["t"] / 60 for one in longest.samples], [one["load"] for one in longest.samples], color="grey", linewidth=1.0)
    behind.set_ylabel("operations")
    load.set_ylabel("load of the host")
    load.set_ylim(bottom=0)
    behind.legend(loc="lower left", ncols=3, fontsize=8)
    save(figure, place, "pacing")


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def growth_table(stores):
    rows = ["| store | minutes; trials | trial's process, MiB an hour | coordinator, MiB an hour | most MiB: trial, coordinator | descriptors | threads | own disk, KiB: first trial, end |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for store in stores:
        def most(role, field):
            return max((one[field] for sample in store.samples for one in sample["processes"] if one["role"] == role), default=0)

        def steady(field):
            within = [one[field] for samples in store.steady().values() for sample in samples[3:-3] for one in sample["processes"] if one["role"] == "role"]
            return f"{min(within)} to {max(within)}" if within and min(within) != max(within) else str(within[0] if within else "–")

        slopes = [store.slope(role, "anonymous_kib") for role in ("role", "coordinator")]
        slopes = [None if one is None else one / 1024 for one in slopes]
        first = next((one for one in store.samples if one["phase"] == "mixed"), store.samples[-1])
        kept = [(one["results"]["bytes"] + one["state"]["bytes"]) / 1024 for one in (first, store.samples[-1])]
        whole = len(store.ends())
        rows.append(f"| {store.name} | {store.samples[-1]['t'] / 60:.0f}; {whole} whole | {number(slopes[0])} | {number(slopes[1])} "
                    f"| {most('role', 'resident_kib') / 1024:.0f}, {most('coordinator', 'resident_kib') / 1024:.0f} "
                    f"| {steady('descriptors')} | {steady('threads')} | {kept[0]:.0f}, {kept[1]:.0f} |")
    return rows


def truth_table(stores):
    rows = ["| store | operations behind at the end of each trial | sent late, 99 % within, ms, by trial | time of each trial: said, true, s | reports asked; answered; complete | slowest report, s | verdicts |",
            "| --- | --- | --- | --- | --- | --- | --- |"]
    for store in stores:
        behind = ", ".join(f"{-points[-1][1]:.0f}" for _, points in store.behind())
        estimates, _, _ = store.estimates()
        said = "; ".join(f"{said:.0f}, {true:.0f}" for _, said, true in estimates) or "–"
        late = ", ".join("–" if value is None else f"{value / 1e6:.2f}" for value in store.pacing()) or "–"
        answered = [one for one in store.reports if one["code"] == 0]
        complete = [one for one in answered if one["says_count"] and one["trials_on_disk"] >= one["finished"]]
        slowest = max((one["seconds"] for one in store.reports), default=None)
        rows.append(f"| {store.name} | {behind} | {late} | {said} | {len(store.reports)}; {len(answered)}; {len(complete)} | {number(slowest)} "
                    f"| {', '.join(store.verdicts()) or 'the first trial goes on'} |")
    return rows


def main():
    folder, docs = Path(sys.argv[1]), Path(sys.argv[2])
    run = json.loads((folder / "runs.json").read_text())
    stores = [Store(folder / name) for name in run["stores"] if (folder / name / "samples.jsonl").read_text().count("\n") > 3]
    place = docs / "long-run"
    place.mkdir(exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "long-run"
    draw_processes(stores, place, "memory", "Resident memory of sensormark's processes", [
        ("role", "resident_kib", "trial's process, MiB"), ("coordinator", "resident_kib", "coordinator, MiB")], 1024)
    draw_processes(stores, place, "descriptors", "Open descriptors and threads of sensormark's processes", [
        ("role", "descriptors", "trial: descriptors"), ("coordinator", "descriptors", "coordinator: descr."),
        ("role", "threads", "trial: threads"), ("coordinator", "threads", "coordinator: threads")])
    draw_disk(stores, place)
    draw_pacing(stores, place)
    figures = [f"Started {run['date']}, {run['minutes']} minutes planned, a sample every {run['every']:.0f} s, {run['version'].split(', with')[0]}.", "",
               *growth_table(stores), "", *truth_table(stores)]
    note = docs / "long-run.md"
    text = note.read_text()
    between = re.compile(re.escape(MARKS[0]) + ".*" + re.escape(MARKS[1]), re.DOTALL)
    note.write_text(between.sub(lambda _: "\n\n".join([MARKS[0], "\n".join(figures), MARKS[1]]), text))
    print("\n".join(figures))


if __name__ == "__main__":
    main()
