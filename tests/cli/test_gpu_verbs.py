"""The verbs that need a GPU, on machines with none and with one.

usage: test_gpu_verbs.py TILEWISE [unittest arguments]
"""

import json
import subprocess
import sys
import unittest

TILEWISE = ""


def run(*arguments):
    return subprocess.run([TILEWISE, *arguments], capture_output=True, text=True, timeout=300)


def has_gpu():
    return run("devices").returncode == 0


class Devices(unittest.TestCase):
    def test_everything_that_was_looked_for_is_named(self):
        done = run("devices")
        self.assertIn(done.returncode, (0, 3))
        for what in ("card", "driver", "NVRTC", "cuBLASLt", "kernel cache", "built-in kernels"):
            self.assertIn(what, done.stdout)

    def test_without_a_gpu_one_sentence_and_exit_code_3(self):
        if has_gpu():
            self.skipTest("there is a GPU")
        for arguments in (["devices"], ["ladder", "64", "64", "64"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith(f"tilewise {arguments[0]}: "), done.stderr)

    def test_json(self):
        document = json.loads(run("devices", "--json").stdout)
        self.assertEqual(document["schema"], "tilewise.devices/1")
        self.assertIn("NVRTC", [finding["what"] for finding in document["findings"]])


class Ladder(unittest.TestCase):
    def test_bad_requests_name_the_argument(self):
        for arguments, word in (
            (["64", "64"], "M N K"),
            (["64", "64", "64", "--dtype", "f33"], "f33"),
            (["64", "64", "64", "--layout", "xy"], "--layout"),
            (["64", "64", "64", "--against", "mkl"], "--against"),
            (["64", "64", "64", "--schedule", "sqare_tile"], "square_tile"),
        ):
            done = run("ladder", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_schedule_by_name_that_cannot_is_refused(self):
        if not has_gpu():
            self.skipTest("there is no GPU")
        done = run("ladder", "1021", "1021", "1021", "--dtype", "bf16", "--schedule", "wgmma")
        self.assertEqual(done.returncode, 2)
        self.assertIn("pad to 1024, or take schedule \"mma\"", done.stderr)

    def test_rows_on_a_gpu(self):
        if not has_gpu():
            self.skipTest("there is no GPU")
        done = run("ladder", "257", "129", "65", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "tilewise.bench/1")
        self.assertGreaterEqual(len(document["rows"]), 10)
        for row in document["rows"]:
            self.assertTrue(row["verified"], row["name"])
            self.assertGreater(row["resources"]["registers"], 0)


if __name__ == "__main__":
    TILEWISE = sys.argv.pop(1)
    unittest.main()
