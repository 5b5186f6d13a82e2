#!/usr/bin/env python3
"""What one coordinator holds with many load hosts: a table of local roles, by the launcher `env HOST={host}`.

    scripts/load-hosts.py PROGRAM [COUNT...]

Each count is a run of devops with so many hosts and as many clients, on a PostgreSQL server that this script starts in
a scratch folder and removes. The coordinator's figures come from /proc while it works, its times from its messages
(--verbose). docs/notes/verification.md keeps what came out.
"""

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNTS = [1, 3, 10, 30, 100, 300]
NOBODY = 65534
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def as_nobody():
    """PostgreSQL refuses to run as root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


class Postgres:
    """A server for more connections than any of the runs has clients."""

    def __init__(self, folder, connections):
        programs = Path(subprocess.check_output(["pg_config", "--bindir"], text=True).strip())
        data = folder / "data"
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(data, NOBODY, NOBODY)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        quiet = dict(cwd="/", preexec_fn=as_nobody, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        options = ["-U", "sensor", "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run([programs / "initdb", "-D", data, *options], check=True, **quiet)
        settings = ["listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories="]
        settings += [f"max_connections={connections}"]
        words = [word for setting in settings for word in ("-c", setting)]
        log = open(folder / "log", "w")
        self.server = subprocess.Popen([programs / "postgres", "-D", data, *words], stderr=log, **quiet)
        ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        deadline = time.monotonic() + 30
        while subprocess.run(ready, check=False).returncode != 0:
            if time.monotonic() > deadline:
                self.stop()
                sys.exit("PostgreSQL does not start: " + (folder / "log").read_text()[-300:])
            time.sleep(0.1)

    def stop(self):
        self.server.terminate()
        self.server.wait()


def command(program, results, port, count):
    """A run with so many load hosts, in which each host has a client and so much work that it counts."""
    hosts = ",".join(f"h{number}" for number in range(1, count + 1))
    numbers = {
        "hosts": max(count, 10), "hours": 0.25, "more_hours": 0.5, "workers": count, "clients": count,
        "queries": max(4 * count, 40), "batch": 60, "several_hosts": 1,
    }
    words = [program, "--verbose", "run", "devops", "--results", results, "--tolerate-disturbance", "--progress=plain"]
    words += ["--on", f"postgresql:individual=postgresql://sensor@127.0.0.1:{port}/"]
    words += ["--load-hosts", hosts, "--launcher", "env HOST={host}", "--host-program", program]
    return words + [word for name, value in numbers.items() for word in ("--set", f"{name}={value}")]


def status(process, name):
    """A number of /proc/PID/status; kB for sizes."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+)", text, re.M).group(1))


def roles(process):
    """The processes that it has started, by id."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(one) for one in text.split()]


def seconds(text):
    """A duration as Rust prints it."""
    number, unit = re.fullmatch(r"([\d.]+)(s|ms|µs|ns)", text).groups()
    return float(number) * UNITS[unit]


def measure(program, folder, port, count):
    """One run's row of the table."""
    results = folder / f"results-{count}"
    said = open(folder / f"said-{count}", "w+")
    environment = dict(os.environ, SENSORMARK_STATE=str(folder / "state"), NO_COLOR="1")
    words = command(program, results, port, count)
    run = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
    most = {"descriptors": 0, "threads": 0, "memory": 0, "role": 0}
    while run.poll() is None:
        try:
            most["descriptors"] = max(most["descriptors"], len(os.listdir(f"/proc/{run.pid}/fd")))
            most["threads"] = max(most["threads"], status(run.pid, "Threads"))
            most["memory"] = max(most["memory"], status(run.pid, "VmHWM"))
            for role in roles(run.pid)[:1]:
                most["role"] = max(most["role"], status(role, "VmHWM"))
        except (OSError, AttributeError):
            pass  # A process has ended meanwhile.
        time.sleep(0.05)
    said.seek(0)
    text = said.read()
    if run.returncode != 0:
        print(f"{count} hosts: exit status {run.returncode}: {text[-600:]}", file=sys.stderr)
    shutil.rmtree(results, ignore_errors=True)
    return row(count, most, text)


def row(count, most, text):
    """A row of figures that the run's messages and /proc gave."""
    def took(words):
        return [seconds(one) for one in re.findall(rf"{words}.*?took=(\S+)", text)]

    reports = re.findall(r"reports are here reports=(\d+) bytes=(\d+)", text)
    of_one = [int(size) / int(number) for number, size in reports if int(number) == count]
    merged = [time for time, (number, _) in zip(took("reports are merged"), reports) if int(number) == count]
    cells = [
        count, most["descriptors"], most["threads"], f"{most['memory'] / 1024:.0f}", f"{most['role'] / 1024:.0f}",
        f"{max(took('processes are ready'), default=0):.2f}", f"{middle(took('clocks are read')) * 1e3:.0f}",
        f"{middle(of_one) / 1024:.1f}", f"{middle(merged) * 1e3:.1f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def middle(values):
    return statistics.median(values) if values else 0.0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    counts = [int(word) for word in sys.argv[2:]] or COUNTS
    folder = Path(tempfile.mkdtemp(prefix="sensormark-load-hosts-"))
    folder.chmod(0o755)
    server = Postgres(folder, connections=max(counts) + 50)
    try:
        print("| load hosts | descriptors | threads | memory, MB | memory of a role, MB | start, s | clocks, ms | report of a host, kB | merging, ms |")
        print("| ---: " * 9 + "|")
        for count in counts:
            print(measure(program, folder, server.port, count), flush=True)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
