#!/usr/bin/env python3
"""Watches long runs of sensormark, one a store, all at once: scripts/long-run.sh calls it.

Every sample (10 s) tells of each sensormark process its memory, descriptors, threads and CPU time, of each folder of sensormark's own its size, and how far
the operations are behind their rate. Reports are asked for while the runs go on, and one run is interrupted. All of it goes to FOLDER/STORE/*.jsonl.
"""

import argparse
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def said(path):
    """The text of a file of /proc, none where its process has ended."""
    try:
        return Path(path).read_text()
    except OSError:
        return None


def descendants(root):
    """A process and all below it."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := said(f"/proc/{entry}/stat")):
            parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += parents.get(process, [])
    return found


def look(process):
    """What one process holds at this moment; none where it has ended."""
    status, stat, line = (said(f"/proc/{process}/{name}") for name in ("status", "stat", "cmdline"))
    if not status or not stat or line is None:
        return None
    fields = dict(one.split(":", 1) for one in status.splitlines() if ":" in one)
    numbers = stat.rsplit(")", 1)[1].split()
    try:
        descriptors = len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return None

    def kib(name):
        return int(fields.get(name, "0 kB").split()[0])

    return {
        "pid": process,
        "name": fields["Name"].strip(),
        "role": "role" if "\0role\0" in line else "coordinator",
        "resident_kib": kib("VmRSS"),
        "anonymous_kib": kib("RssAnon"),
        "descriptors": descriptors,
        "threads": int(fields.get("Threads", 0)),
        "cpu_seconds": (int(numbers[11]) + int(numbers[12])) / TICKS,
    }


def size(folder):
    """Bytes and files below a folder, and bytes of databases' own files in it."""
    total = files = databases = 0
    for place, _, names in os.walk(folder):
        is_database = "/server" in place[len(str(folder)):]
        for name in names:
            try:
                held = os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
            files += 1
            total += held
            databases += held if is_database else 0
    return {"bytes": total - databases, "files": files, "database_bytes": databases}


class Run:
    """One run of sensormark on one store."""

    def __init__(self, options, store, trials):
        self.store, self.trials = store, trials
        self.folder = options.folder / store
        self.folder.mkdir(parents=True)
        self.environment = {**os.environ, "SENSORMARK_STATE": str(self.folder / "state")}
        # Each trial's rest (load, count) takes half a minute or so; the first one is given.
        seconds = options.minutes * 60 // trials - 30
        self.command = [options.program, "run", options.workload, "--on", f"{store}:individual",
                        "--set", f"mixed.duration={seconds}s", "--set", f"repetitions={trials}",
                        "--results", str(self.folder / "results"), "--progress", "json", "--tolerate-disturbance"]
        self.out = {name: (self.folder / f"{name}.jsonl").open("w") for name in ("samples", "events", "reports")}
        self.began = time.monotonic()
        output = (self.folder / "answer.txt").open("w")
        self.process = subprocess.Popen(self.command, stdout=output, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.phase, self.done, self.finished, self.interrupted = "start", 0, 0, None
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def keep(self, name, what):
        what = {"t": round(time.monotonic() - self.began, 3), **what}
        print(json.dumps(what), file=self.out[name], flush=True)

    def listen(self):
        """Keeps each line of progress with the instant of its coming; of the many that only count, those that samples take."""
        for line in self.process.stderr:
            try:
                event = json.loads(line)
            except ValueError:
                event = {"event": "text", "data": line.rstrip()}
            if event["event"] == "progress":
                self.done, self.of = event["data"]["done"], event["data"]["of"]
                self.done_at = time.monotonic()
                continue
            if event["event"] == "phase":
                self.phase, self.done = event["data"]["name"], 0
            if event["event"] == "trial_finished":
                self.finished += 1
            self.keep("events", event)

    def sample(self):
        every = [found for one in descendants(self.process.pid) if (found := look(one))]
        # The kernel keeps 15 bytes of a process's name.
        name = Path(self.command[0]).name[:15]
        own, others = ([one for one in every if (one["name"] == name) == is_own] for is_own in (True, False))
        self.keep("samples", {
            "phase": self.phase,
            "trial": self.finished,
            "done": self.done,
            "of": getattr(self, "of", None),
            "done_age": round(time.monotonic() - getattr(self, "done_at", time.monotonic()), 3),
            "processes": own,
            "server_resident_kib": sum(one["resident_kib"] for one in others),
            "server_cpu_seconds": sum(one["cpu_seconds"] for one in others),
            "results": size(self.folder / "results"),
            "state": size(self.folder / "state"),
            "load": os.getloadavg()[0],
        })

    def report(self, program):
        """Asks for the report of what is there, and keeps whether it was complete: a trial in it for each that had finished before."""
        finished = self.finished
        found = sorted((self.folder / "results").glob("*/run.json"))
        if not found:
            return
        before = time.monotonic()
        answer = subprocess.run([program, "report", str(found[0].parent)], capture_output=True, text=True, env=self.environment)
        kept = len(list(found[0].parent.glob("trials/*.json")))
        first = (answer.stdout or answer.stderr).strip().splitlines()[:1]
        self.keep("reports", {
            "code": answer.returncode, "seconds": round(time.monotonic() - before, 3), "finished": finished, "trials_on_disk": kept,
            "first_line": first[0] if first else "", "says_count": any(f" {kept} trial" in one for one in first),
            "running": self.process.poll() is None, "bytes": len(answer.stdout),
        })

    def interrupt(self):
        """Ctrl-C, as a user gives it."""
        self.interrupted = {"pids": descendants(self.process.pid), "finished": self.finished}
        self.keep("events", {"event": "interrupted_by_script", "data": {"finished": self.finished, "phase": self.phase}})
        self.process.send_signal(signal.SIGINT)

    def end(self, program):
        """What is left when the run has ended."""
        self.listener.join(30)
        time.sleep(1)
        left = [one for one in (self.interrupted or {}).get("pids", []) if said(f"/proc/{one}/stat")]
        self.keep("events", {"event": "ended", "data": {"code": self.process.returncode, "finished": self.finished, "processes_left": left,
                                                         "state": size(self.folder / "state")}})
        self.report(program)


def watch(options):
    options.folder.mkdir(parents=True)
    runs = []
    for named in options.stores:
        store, _, trials = named.partition(":")
        runs.append(Run(options, store, int(trials or 1)))
    (options.folder / "runs.json").write_text(json.dumps({
        "date": time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()), "minutes": options.minutes, "every": options.every,
        "interrupt": options.interrupt, "interrupt_minute": options.interrupt_minute,
        "version": subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.strip(),
        "stores": {run.store: run.trials for run in runs},
    }))
    began, turn, going = time.monotonic(), 0, list(runs)
    asked = 0
    while going:
        for run in list(going):
            if run.process.poll() is None:
                run.sample()
            else:
                run.end(options.program)
                going.remove(run)
        minute = (time.monotonic() - began) / 60
        if minute >= (asked + 1) * options.report_minutes:
            asked += 1
            for run in going:
                run.report(options.program)
        for run in going:
            if run.store == options.interrupt and minute >= options.interrupt_minute and not run.interrupted:
                run.interrupt()
        turn += 1
        time.sleep(max(0, began + turn * options.every - time.monotonic()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="a new folder for results and samples")
    parser.add_argument("--minutes", type=int, required=True)
    parser.add_argument("--every", type=float, default=10, help="seconds between samples")
    parser.add_argument("--report-minutes", type=float, default=10)
    parser.add_argument("--interrupt", help="the store whose run is interrupted")
    parser.add_argument("--interrupt-minute", type=float)
    parser.add_argument("stores", nargs="+", help="STORE:TRIALS")
    watch(parser.parse_args())


if __name__ == "__main__":
    main()
