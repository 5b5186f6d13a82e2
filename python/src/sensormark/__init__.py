"""Results of sensormark as data frames of pandas."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pandas

__all__ = ["load", "program"]


def program() -> str:
    """The path of the program: the one that was installed with this package, or else the first on PATH.

    Raises FileNotFoundError where there is none.
    """
    folders = [sysconfig.get_path("scripts")]
    user_scheme = f"{os.name}_user"
    if user_scheme in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user_scheme))
    found = shutil.which("sensormark", path=os.pathsep.join(folders)) or shutil.which("sensormark")
    if found is None:
        places = ", ".join(folders)
        raise FileNotFoundError(
            f"the program sensormark is neither in {places} nor on PATH; install it again: pip install sensormark"
        )
    return found


def load(run: str | os.PathLike[str]) -> pandas.DataFrame:
    """Reads the folder of one run: a row for each figure of each phase of each trial.

    The columns are run, workload, scale, store, server, layout, strategy, durability, cache, side, repetition, state, phase, part, figure, value
    and unit. Trials of every state are in. A figure of a whole trial has no phase: its text is empty.

    Raises ValueError, with the program's own message, where the folder holds no run.
    """
    with tempfile.TemporaryDirectory(prefix="sensormark-") as folder:
        table = Path(folder, "figures.csv")
        command = [program(), "report", "--tidy", str(table), "--", os.fspath(run)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        # Texts stay as they are: a layout may be called "none" or "NA".
        return pandas.read_csv(table, keep_default_na=False, dtype=_types(table))


def _types(table: Path) -> dict[str, str]:
    """The type of each column: all are texts but two."""
    with table.open(encoding="utf-8") as lines:
        columns = lines.readline().strip().split(",")
    numbers = {"repetition": "int64", "value": "float64"}
    return {column: numbers.get(column, "str") for column in columns}
