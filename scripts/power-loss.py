#!/usr/bin/env python3
"""What acknowledged readings outlast a power loss, by store and durability class.

    scripts/power-loss.py SENSORMARK FOLDER [CUTS] [STORE:CLASS ...]

SENSORMARK is the program, FOLDER a new one where the results of its runs go. CUTS is how often each case loses power (5).

sensormark runs its workload `durability` on a store whose files are on scripts/power-cut-fs.c, a file system that forgets on command what was not flushed.
When sensormark kills the database, this script halts sensormark, cuts the power of the file system, and lets sensormark go on. It starts the database again, and
compares all that is there with all that was acknowledged. Each cut gives a line, each case a row of docs/notes/power-loss.md.

It takes root, FUSE, a C compiler and libfuse3 with its headers (Debian: fuse3, libfuse3-dev, pkg-config).
"""
import json
import mmap
import os
import pathlib
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CASES = {
    "sqlite": ["durable", "default", "relaxed"],
    "duckdb": ["durable", "default", "relaxed"],
    "postgresql": ["durable", "default", "relaxed"],
    "mariadb": ["durable", "default", "relaxed"],
    "mongodb": ["durable", "default", "relaxed", "unacknowledged"],
    "influxdb": ["durable", "default", "unacknowledged"],
    "questdb": ["durable", "default", "relaxed"],
    "cassandra": ["durable", "default", "relaxed"],
}
LAYOUT = {("influxdb", "unacknowledged"): "individual-udp"}
SECONDS = "3"
HERE = pathlib.Path(__file__).resolve().parent


class CutFileSystem:
    """A folder whose files can lose power, until the end."""

    def __init__(self, program, place, told):
        self.place, self.root = place / "mnt", place / "root"
        for folder in (self.place, self.root):
            folder.mkdir()
            folder.chmod(0o777)
        self.process = subprocess.Popen([program, self.root, self.place, "-f", "-o", "allow_other,default_permissions,max_threads=10"], stdout=told)
        while not os.path.ismount(self.place):
            if self.process.poll() is not None:
                sys.exit("the file system cannot be mounted; see the message above, and whether /dev/fuse is there")
            time.sleep(0.02)

    def keep(self):
        """Takes all that is there as flushed, what is mapped into memory included."""
        subprocess.run(["sync", "-f", self.place], check=True)
        os.setxattr(self.place, "user.power", b"keep")

    def cut(self):
        """Forgets what was not flushed, and says how much that was."""
        os.setxattr(self.place, "user.power", b"cut")
        return os.getxattr(self.place, "user.power").decode()

    def holders(self):
        """The processes that have a file of it open or mapped, and their parents."""
        found, inside = {}, f"{self.place}/"
        for process in (entry for entry in os.listdir("/proc") if entry.isdigit()):
            folder = f"/proc/{process}"
            try:
                held = any(os.readlink(f"{folder}/fd/{fd}").startswith(inside) for fd in os.listdir(f"{folder}/fd"))
                held = held or any(inside in line for line in open(f"{folder}/maps", errors="replace"))
                if held:
                    found[int(process)] = int(open(f"{folder}/stat").read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
        return found

    def end(self):
        subprocess.run(["fusermount3", "-u", "-z", self.place], check=False)
        # A mount namespace that another program made meanwhile still has the mount.
        self.process.terminate()
        self.process.wait()


def check(files):
    """The file system forgets what it should forget, and nothing else."""
    def write(name, data, flush=False, flags=0, at=0):
        file = os.open(files.place / name, os.O_CREAT | os.O_RDWR | flags, 0o644)
        os.pwrite(file, data, at)
        if flush:
            os.fsync(file)
        os.close(file)

    def is_there(name, data):
        assert (files.place / name).read_bytes() == data, f"{name} is not what it should be after a cut"

    write("before", b"a" * 10_000)
    files.keep()
    write("before", b"b" * 100, at=5_000)
    write("new", b"x" * 5_000)
    write("flushed", b"x" * 5_000, flush=True)
    write("each", b"y" * 100, flags=os.O_DSYNC)
    write("shorter", b"k" * 9_000, flush=True)
    os.truncate(files.place / "shorter", 10)
    write("shorter", b"m" * 9_000)
    write("mapped", bytes(8_192), flush=True)
    with open(files.place / "mapped", "r+b") as file, mmap.mmap(file.fileno(), 8_192) as memory:
        memory[:4] = b"kept"
        memory.flush()
        memory[4_096:4_100] = b"lost"
    write("old-name", b"new", flush=True)
    os.rename(files.place / "old-name", files.place / "new-name")
    files.cut()
    is_there("before", b"a" * 10_000)
    is_there("new", b"")
    is_there("flushed", b"x" * 5_000)
    is_there("each", b"y" * 100)
    is_there("shorter", b"k" * 9_000)
    is_there("mapped", b"kept" + bytes(8_188))
    is_there("new-name", b"new")


class Cutter:
    """Follows a run of sensormark, and cuts the power whenever it has killed the database."""

    def __init__(self, files, sensormark, told):
        self.files, self.sensormark, self.told = files, sensormark, told
        self.is_writing, self.roots, self.cuts, self.kept = False, [], [], 0.0

    def hear(self, event):
        name, data = event.get("event"), event.get("data")
        if name == "phase":
            self.is_writing = data["name"] == "write"
        elif name == "progress" and self.is_writing and not self.roots and data["done"]:
            # What was made before the first reading is on disk: the kernel flushes it within half a minute.
            self.files.keep()
            self.kept = time.monotonic()
            holders = self.files.holders()
            holders.pop(self.sensormark.pid, None)
            self.roots = [os.pidfd_open(process) for process, parent in holders.items() if parent not in holders]

        elif name == "trial_finished" and data["verdict"]["state"] != "valid":
            # The server's log is removed with its folder.
            for number, log in enumerate(self.files.root.parent.glob("**/*log*")):
                if log.is_file() and not log.is_relative_to(self.files.place) and log.stat().st_size < 1_000_000:
                    shutil.copy(log, f"{self.told}-cut{len(self.cuts)}-{number}-{log.name}")

    def cut(self):
        """A process of the database has ended: no other may go on, none may start, and then the power goes."""
        os.kill(self.sensormark.pid, signal.SIGSTOP)
        while holders := {process for process in self.files.holders() if process != self.sensormark.pid}:
            for process in holders:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)
        after = time.monotonic() - self.kept
        self.cuts.append(f"{self.files.cut()}, of {after:.1f} s")
        os.kill(self.sensormark.pid, signal.SIGCONT)
        for root in self.roots:
            os.close(root)
        self.roots, self.is_writing = [], False

    def follow(self, log):
        lines, rest = self.sensormark.stderr.fileno(), b""
        while True:
            ready, _, _ = select.select([lines, *self.roots], [], [])
            if any(root in ready for root in self.roots):
                self.cut()
                continue
            more = os.read(lines, 65_536)
            if not more:
                return
            log.write(more)
            *whole, rest = (rest + more).split(b"\n")
            for line in whole:
                if line.startswith(b"{"):
                    self.hear(json.loads(line))


def run(sensormark, results, cuts, store, name):
    """A run of a case. Gives what each cut left, and why the others tell nothing."""
    program = results / "power-cut-fs"
    with tempfile.TemporaryDirectory(prefix="sensormark-power-", ignore_cleanup_errors=True) as folder:
        place = pathlib.Path(folder)
        place.chmod(0o755)
        told = results / f"{store}-{name}"
        files = CutFileSystem(program, place, open(f"{told}.files", "w"))
        try:
            check(files)
            command = [sensormark, "run", "durability", "--on", f"{store}:{LAYOUT.get((store, name), 'individual')}", "--durability", name,
                       "--data", files.place, "--results", told, "--progress", "json", "--tolerate-disturbance", "--timeout", "60s",
                       "--set", f"repetitions={cuts}", "--set", f"kill_after_seconds={SECONDS}"]
            environment = {**os.environ, "SENSORMARK_STATE": str(place / "state")}
            with open(f"{told}.log", "wb", buffering=0) as log:
                process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.PIPE)
                cutter = Cutter(files, process, told)
                cutter.follow(log)
                process.wait()
        finally:
            files.end()
    return cutter.cuts


def row(results, cuts, store, name):
    """The case's row: sums over its cuts."""
    acknowledged = found = lost = altered = most = 0
    longest, told = 0.0, []
    trials = sorted((results / f"{store}-{name}").glob("*/trials/*.json"))
    for number, trial in enumerate(map(lambda file: json.loads(file.read_text()), trials)):
        ledger, what = trial.get("ledger"), cuts[number] if number < len(cuts) else "no cut"
        if not ledger:
            told.append(trial["verdict"]["reasons"][-1]["text"])
            print(f"{store} {name} cut {number + 1}: nothing could be counted, {told[-1]}; lost by the file system: {what}", file=sys.stderr, flush=True)
            continue
        after = trial["figures"]["killed_after_seconds"]["value"]
        share = ledger["lost"] / max(1, ledger["acknowledged"]) * after
        print(f"{store} {name} cut {number + 1}: acknowledged {ledger['acknowledged']:,}, found {ledger['stored']:,}, lost {ledger['lost']:,}, "
              f"altered {ledger['altered']}, {trial['verdict']['state']}; lost by the file system: {what}", file=sys.stderr, flush=True)
        acknowledged, found, lost = acknowledged + ledger["acknowledged"], found + ledger["stored"], lost + ledger["lost"]
        altered, most, longest = altered + ledger["altered"], max(most, ledger["lost"]), max(longest, share)
    whole = "whole" if not told and not altered else f"{altered} altered; {len(told)} of {len(trials)} not counted, the first: {(told or ['–'])[0]}"
    if len(cuts) != len(trials):
        whole += f"; {len(cuts)} cuts in {len(trials)} trials"
    print(f"| {store} | {name} | {len(cuts)} | {acknowledged:,} | {found:,} | {lost:,} | {most:,} | {longest:.2f} s | {whole} |", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sensormark, results, more = sys.argv[1], pathlib.Path(sys.argv[2]).absolute(), sys.argv[3:]
    cuts = int(more.pop(0)) if more and more[0].isdigit() else 5
    results.mkdir(parents=True, exist_ok=True)
    library = shlex.split(subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True).stdout)
    subprocess.run(["cc", "-O2", "-Wall", "-o", results / "power-cut-fs", HERE / "power-cut-fs.c", *library], check=True)
    print("| store | class | cuts | acknowledged | found | lost | most at a cut | longest | database |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for case in more or [f"{store}:{name}" for store, names in CASES.items() for name in names]:
        store, name = case.split(":")
        shutil.rmtree(results / f"{store}-{name}", ignore_errors=True)
        row(results, run(sensormark, results, cuts, store, name), store, name)


if __name__ == "__main__":
    main()
