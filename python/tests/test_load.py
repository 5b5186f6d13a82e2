"""Tests of the installed package: SENSORMARK_TEST_RUN names the folder of a run."""

import os
import subprocess
import sys
import tempfile
import unittest

import sensormark


class Load(unittest.TestCase):
    def test_a_run_is_a_row_for_each_figure(self):
        figures = sensormark.load(os.environ["SENSORMARK_TEST_RUN"])
        self.assertEqual(set(figures["store"]), {"sqlite"})
        self.assertEqual(figures["value"].dtype, "float64")
        self.assertEqual(figures["repetition"].dtype, "int64")
        disk = figures[(figures["figure"] == "disk_after_bytes") & (figures["phase"] == "")]
        self.assertFalse(disk.empty)
        self.assertTrue((disk["value"] > 0).all())
        self.assertEqual(set(disk["unit"]), {"bytes"})

    def test_a_folder_without_a_run_is_told_in_the_words_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "run.json"):
                sensormark.load(folder)

    def test_the_program_is_the_one_that_came_with_the_package(self):
        path = sensormark.program()
        self.assertEqual(os.path.dirname(path), os.path.join(sys.prefix, "bin"))
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        self.assertIn("sensormark", done.stdout)


if __name__ == "__main__":
    unittest.main()
