#!/usr/bin/env python3
"""Hours of steady load on some databases at once, watched from outside: scripts/long-run.py PROGRAM HOURS STORE...

Once it runs for five minutes, no process of sensormark may take over 2 MiB more in an hour, or another descriptor or thread.
A run of less than an hour tells little: it fails for 2 MiB in all. Reports are asked for meanwhile and have to answer. The last store's run gets Ctrl-C before its end, and nothing of it may be left. Prints a row a process for docs/notes/long-run.md; exit
code 1 says that something of this did not hold.
"""
import os, signal, statistics, subprocess, sys, tempfile, time
from pathlib import Path

EVERY, SETTLED, REPORTED, MOST_MIB = 10, 300, 600, 2.0


def tree(process):
    """A process and all below it, as far as they are still there."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(below for child in children for below in tree(int(child)))]


class Run:
    def __init__(self, program, folder, hours, store):
        self.store, self.program, self.folder, self.seen, self.wrong = store, program, folder / store, {}, []
        self.folder.mkdir()
        self.environment = {**os.environ, "SENSORMARK_STATE": str(self.folder / "state")}
        words = ["run", "scripts/long-run.toml", "--on", f"{store}:individual", "--set", f"mixed.duration={hours * 3600:.0f}s", "--tolerate-disturbance"]
        said = open(self.folder / "said", "w")
        self.process = subprocess.Popen([program, *words, "--results", self.folder / "results"], stdout=said, stderr=said, env=self.environment)
        self.began = self.reported = time.monotonic()

    def look(self):
        """Takes what each of sensormark's own processes holds; a server is none of them."""
        for process in tree(self.process.pid):
            try:
                fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
                held = int(fields["RssAnon"].split()[0]) / 1024, len(os.listdir(f"/proc/{process}/fd")), int(fields["Threads"])
            except (OSError, KeyError):
                continue
            if fields["Name"].strip().startswith("sensormark"):
                self.seen.setdefault(process, []).append((time.monotonic(), *held))
        if time.monotonic() - self.reported > REPORTED:
            self.reported = time.monotonic()
            answered = subprocess.run([self.program, "report", *self.folder.glob("results/*")], capture_output=True, env=self.environment)
            if answered.returncode != 0:
                self.wrong.append(f"report ended with {answered.returncode}")

    def interrupt(self):
        left = tree(self.process.pid)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self.wrong += [f"process {one} is left" for one in left if tree(one)]
        # 130: interrupted.
        return self.process.returncode == 130

    def rows(self):
        for process, seen in self.seen.items():
            # Its last minute is the phase's end.
            steady = [one for one in seen[:-6] if one[0] - seen[0][0] > SETTLED]
            if len(steady) < 3:
                continue
            slope = statistics.linear_regression([one[0] / 3600 for one in steady], [one[1] for one in steady]).slope
            descriptors, threads = ([min(held), max(held)] for held in ([one[place] for one in steady] for place in (2, 3)))
            hours = (steady[-1][0] - steady[0][0]) / 3600
            if slope * hours > MOST_MIB * max(hours, 1) or descriptors[1] > descriptors[0] + 1 or threads[1] > threads[0] + 1:
                self.wrong.append(f"process {process} grows")
            print(f"| {self.store} | {(seen[-1][0] - seen[0][0]) / 60:.0f} | {slope:.2f} | {max(one[1] for one in seen):.0f} | {descriptors[0]} to {descriptors[1]} | {threads[0]} to {threads[1]} |")


def main():
    program, hours, stores = os.path.abspath(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    folder = Path(tempfile.mkdtemp(prefix="long-run-"))
    # Servers run as another user.
    folder.chmod(0o755)
    print(f"Results are in {folder}", file=sys.stderr)
    runs = [Run(program, folder, hours, store) for store in stores]
    while going := [run for run in runs if run.process.poll() is None]:
        for run in going:
            run.look()
        last = runs[-1]
        if last in going and time.monotonic() - last.began > hours * 3000 and not last.interrupt():
            last.wrong.append(f"after Ctrl-C it ended with {last.process.returncode}")
        time.sleep(EVERY)
    print("| store | minutes | MiB an hour | most MiB | descriptors | threads |\n| --- | --- | --- | --- | --- | --- |")
    for run in runs:
        run.rows()
        if run is not runs[-1] and run.process.returncode != 0:
            run.wrong.append(f"it ended with {run.process.returncode}: {run.folder}/said")
    wrong = [f"{run.store}: {text}" for run in runs for text in run.wrong]
    print(*wrong, sep="\n", file=sys.stderr)
    sys.exit(bool(wrong))


main()
