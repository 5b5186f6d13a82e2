#!/usr/bin/env python3
"""What acknowledged writes outlast a power loss: a database writes to LazyFS, which keeps in memory what was not flushed, and forgets it on command.

Build LazyFS (github.com/dsrhaslab/lazyfs) and name its program:

    scripts/power-loss.py /path/to/lazyfs [STORE:CLASS ...]

Each case makes a database with the settings of a durability class, writes a row a commit and notes each that is acknowledged outside of LazyFS. Then it kills
the database with SIGKILL, lets LazyFS forget, starts the database again, and counts. It prints a row of docs/notes/power-loss.md for each. It takes root and FUSE.
"""
import glob
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SECONDS = 3.0
SQLITE = {"default": "NORMAL", "durable": "FULL", "relaxed": "OFF"}
POSTGRESQL = {"durable": "on", "relaxed": "off"}
MARIADB = {"durable": 1, "relaxed": 2}


class LazyFs:
    """A file system over a folder, mounted until the end."""

    def __init__(self, program, place):
        self.mount, self.root = place / "mnt", place / "root"
        for folder in (self.mount, self.root):
            folder.mkdir()
        self.commands, self.answers = place / "commands", place / "answers"
        settings = place / "settings.toml"
        settings.write_text(
            f'[faults]\nfifo_path="{self.commands}"\nfifo_path_completed="{self.answers}"\n'
            '[cache]\napply_eviction=false\n[cache.simple]\ncustom_size="512mb"\nblocks_per_page=1\n'
            f'[filesystem]\nlog_all_operations=false\nlogfile="{place / "log"}"\n'
        )
        options = ["-o", "allow_other", "-o", "modules=subdir", "-o", f"subdir={self.root}", "-f"]
        with open(place / "out", "w") as out:
            self.process = subprocess.Popen(
                [program, str(self.mount), "--config-path", str(settings), *options], stdout=out, stderr=out
            )
        while not os.path.ismount(self.mount):
            if self.process.poll() is not None:
                sys.exit(f"LazyFS cannot be mounted: {(place / 'out').read_text()[-500:]}")
            time.sleep(0.05)

    def forget(self):
        """Drops everything that was not flushed."""
        with open(self.commands, "w") as commands:
            commands.write("lazyfs::clear-cache\n")
        with open(self.answers) as answers:
            answer = answers.readline()
        assert "clear-cache" in answer, answer

    def end(self):
        subprocess.run(["fusermount3", "-u", "-z", str(self.mount)], check=False)
        self.process.wait()


def acknowledged(file):
    """The number in the last whole line."""
    lines = [line for line in file.read_text().split("\n")[:-1] if line.strip().isdigit()]
    return int(lines[-1]) if lines else 0


def sqlite_open(path, synchronous):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


def sqlite(lazy, place, name):
    path, noted = str(lazy.mount / "database.sqlite"), place / "noted"
    connection = sqlite_open(path, "FULL")
    connection.execute("CREATE TABLE readings (number INTEGER PRIMARY KEY, value REAL)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    os.sync()
    writer = os.fork()
    if writer == 0:
        connection = sqlite_open(path, SQLITE[name])
        with open(noted, "w", buffering=1) as lines:
            number = 0
            while True:
                number += 1
                connection.execute("INSERT INTO readings VALUES (?, 1.5)", (number,))
                lines.write(f"{number}\n")
    time.sleep(SECONDS)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    lazy.forget()
    connection = sqlite3.connect(path)
    try:
        (whole,) = connection.execute("PRAGMA integrity_check").fetchone()
        count = connection.execute("SELECT count(*) FROM readings").fetchone()[0]
    except sqlite3.DatabaseError as error:
        whole, count = str(error), 0
    connection.close()
    return acknowledged(noted), count, whole


def as_user(user, command, **more):
    return subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command], **more)


def feed(client, noted, kill):
    """Writes a row a commit through a client that prints the number of each that is acknowledged, then kills."""
    with open(noted, "w") as lines:
        writer = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=lines, stderr=subprocess.DEVNULL, text=True)
        number, until = 0, time.monotonic() + SECONDS
        try:
            while time.monotonic() < until:
                number += 1
                writer.stdin.write(f"INSERT INTO readings VALUES ({number}, 1.5);\nSELECT {number};\n")
                writer.stdin.flush()
        except BrokenPipeError:
            pass
        kill()
        writer.kill()
        writer.wait()


def wait_for(command, what):
    for _ in range(600):
        if subprocess.run(command, capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{what} is not ready")


def kill_server(server):
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    time.sleep(0.5)


def postgresql(lazy, place, name):
    binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    data, port, noted = lazy.mount / "data", "54399", place / "noted"
    # LazyFS makes every file as its own user, and initdb wants a folder that is its user's.
    os.chmod(lazy.root, 0o777)
    as_user("postgres", [f"{binaries}/initdb", "-D", str(lazy.root / "data"), "-A", "trust", "-U", "postgres"], check=True, stdout=subprocess.DEVNULL)
    socket = place / "socket"
    socket.mkdir()
    shutil.chown(socket, "postgres")
    command = [f"{binaries}/postgres", "-D", str(data), "-p", port, "-k", str(socket), "-h", "",
               "-c", f"synchronous_commit={POSTGRESQL[name]}", "-c", "fsync=on", "-c", "full_page_writes=on"]
    psql = ["psql", "-h", str(socket), "-p", port, "-U", "postgres", "-qAt"]
    start = lambda: subprocess.Popen(
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=open(place / "server.log", "a"))
    server = start()
    wait_for([*psql, "-c", "SELECT 1"], "PostgreSQL")
    subprocess.run([*psql, "-c", "CREATE TABLE readings (number bigint PRIMARY KEY, value float8)", "-c", "CHECKPOINT"], check=True)
    os.sync()
    feed(psql, noted, lambda: kill_server(server))
    lazy.forget()
    (data / "postmaster.pid").unlink(missing_ok=True)
    server = start()
    try:
        wait_for([*psql, "-c", "SELECT 1"], "PostgreSQL")
        counted = subprocess.run([*psql, "-c", "SELECT count(*) FROM readings"], check=True, capture_output=True, text=True)
        return acknowledged(noted), int(counted.stdout), "ok"
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return acknowledged(noted), 0, f"{error}: {(place / 'server.log').read_text()[-200:]}"
    finally:
        kill_server(server)


def mariadb(lazy, place, name):
    data, socket, noted = lazy.mount / "data", place / "mariadb.sock", place / "noted"
    os.chmod(lazy.mount, 0o777)
    place.chmod(0o777)
    common = ["--no-defaults", f"--datadir={data}", "--user=mysql", "--innodb-flush-method=fsync", "--innodb-use-native-aio=0",
              "--innodb-log-file-size=16M"]
    subprocess.run(["mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    command = ["mariadbd", *common, f"--socket={socket}", "--skip-networking", f"--innodb-flush-log-at-trx-commit={MARIADB[name]}",
               f"--pid-file={place / 'pid'}"]
    start = lambda: subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=open(place / "server.log", "a"))
    client = ["mariadb", "--no-defaults", f"--socket={socket}", "-uroot", "-N", "-B"]
    server = start()
    wait_for([*client, "-e", "SELECT 1"], "MariaDB")
    subprocess.run([*client, "-e", "CREATE DATABASE sensormark_power; CREATE TABLE sensormark_power.readings (number bigint PRIMARY KEY, value double)"], check=True)
    os.sync()
    feed([*client, "-n", "sensormark_power"], noted, lambda: kill_server(server))
    lazy.forget()
    server = start()
    try:
        wait_for([*client, "-e", "SELECT 1"], "MariaDB")
        counted = subprocess.run([*client, "sensormark_power", "-e", "SELECT count(*) FROM readings"], check=True, capture_output=True, text=True)
        return acknowledged(noted), int(counted.stdout), "ok"
    except (RuntimeError, subprocess.CalledProcessError) as error:
        return acknowledged(noted), 0, f"{error}: {(place / 'server.log').read_text()[-300:]}"
    finally:
        kill_server(server)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cases = sys.argv[2:] or [f"sqlite:{name}" for name in SQLITE] + [f"postgresql:{name}" for name in POSTGRESQL] + [
        f"mariadb:{name}" for name in MARIADB]
    print("| store | class | acknowledged | there after the cut | lost | database |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    for case in cases:
        store, name = case.split(":")
        with tempfile.TemporaryDirectory(prefix="sensormark-power-", ignore_cleanup_errors=True) as folder:
            place = pathlib.Path(folder)
            place.chmod(0o755)
            lazy = LazyFs(sys.argv[1], place)
            try:
                wanted, found, whole = {"sqlite": sqlite, "postgresql": postgresql, "mariadb": mariadb}[store](lazy, place, name)
            finally:
                lazy.end()
            print(f"| {store} | {name} | {wanted:,} | {found:,} | {max(0, wanted - found):,} | {whole} |", flush=True)


if __name__ == "__main__":
    main()
