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
        for arguments in (["devices"], ["devices", "--time-first-call"],
                          ["ladder", "64", "64", "64"],
                          ["run", "64", "64", "64", "--device", "gpu"],
                          ["run", "64", "64", "64", "--schedule", "square_tile"],
                          ["explain", "64", "64", "64", "--device", "gpu"]):
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


class Run(unittest.TestCase):
    def test_bad_requests_name_the_argument(self):
        for arguments, word in (
            (["run", "64", "64", "64", "--device", "tpu"], "--device"),
            (["run", "64", "64", "64", "--device", "gpu", "--threads", "2"], "--threads"),
            (["run", "64", "64", "64", "--device", "cpu", "--schedule", "square_tile"], "gpu"),
            (["bench", "--suite", "none.csv", "--device", "gpu", "--threads", "2"], "--threads"),
            (["explain", "64", "64", "64", "--device", "tpu"], "--device"),
            (["explain", "64", "64", "64", "--device", "cpu", "--machine", "h100"], "leave one out"),
            (["ladder", "64", "64", "64", "--epilogue", "acc +"], "--epilogue"),
            (["ladder", "64", "64", "64", "--device", "cpu"], "--device"),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr)

    def test_a_cpu_run_names_its_device_in_the_command_that_repeats_it(self):
        document = json.loads(run("run", "40", "50", "60", "--device", "cpu", "--json").stdout)
        self.assertEqual(document["device"], "cpu")
        self.assertIn("--device cpu", document["repeat"])

    def test_on_a_gpu(self):
        if not has_gpu():
            self.skipTest("there is no GPU")
        for arguments, schedule in (
            (["300", "200", "100"], "tuned_f32"),
            (["300", "200", "100", "--schedule", "naive"], "naive"),
            (["300", "200", "104", "--dtype", "bf16", "--transpose-b"], "wgmma_pipeline"),
            (["300", "200", "100", "--dtype", "f16", "--epilogue", "gelu(acc + bias[n]) + r[m,n]"],
             "mma"),
            (["0", "5", "7"], "tuned_f32"),
            (["5", "7", "0"], "tuned_f32"),
        ):
            done = run("run", *arguments, "--json")
            self.assertEqual(done.returncode, 0, (arguments, done.stderr))
            document = json.loads(done.stdout)
            self.assertEqual(document["device"], "gpu", arguments)
            self.assertEqual(document["schedule"], schedule)
            self.assertTrue(document["verified"])
        done = run("run", "64", "64", "64", "--dtype", "f64", "--json")
        self.assertEqual(json.loads(done.stdout)["device"], "cpu")
        self.assertIn("on the CPU, since the GPU does not take it", done.stderr)

    def test_the_ladder_checks_an_epilogue_on_a_gpu(self):
        if not has_gpu():
            self.skipTest("there is no GPU")
        done = run("ladder", "264", "136", "72", "--dtype", "bf16", "--json", "--epilogue",
                   "gelu(acc + bias[n]) + residual[m,n]")
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in json.loads(done.stdout)["rows"]:
            self.assertTrue(row["verified"], row["name"])
            self.assertIn("gelu", row["epilogue"])
            self.assertGreater(row["error_bound"], 0)


class Explain(unittest.TestCase):
    def test_the_rungs_figures_are_those_of_count_units(self):
        size = ["333", "264", "144"]
        for schedule in ("naive_rows", "square_tile", "wmma", "mma", "wgmma_pipeline"):
            arguments = [*size, "--schedule", schedule, "--json"]
            dtype = ["--dtype", "f32" if schedule in ("naive_rows", "square_tile") else "bf16"]
            explained = json.loads(run("explain", *arguments, *dtype).stdout)
            counted = json.loads(run("count", *arguments, *dtype, "--units").stdout)["rows"]
            shown = [row for row in explained["rows"] if row["quantity"] in ("issued", "units")]
            self.assertEqual([row["unit"] for row in shown], [row["unit"] for row in counted])
            self.assertEqual([row["counted"] for row in shown],
                             [row["counted"] for row in counted])


class Units(unittest.TestCase):
    def rows(self, *arguments):
        done = run("count", *arguments, "--units", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "tilewise.traffic/1")
        return {(row["level"], row["operand"], row["direction"], row["unit"]): row["counted"]
                for row in document["rows"]}

    def test_figures(self):
        rows = self.rows("8192", "8192", "8192", "--schedule", "wgmma_pipeline")
        self.assertEqual(rows["warpgroup", "d", "write", "gmma"], 8388608)
        rows = self.rows("4096", "4096", "4096", "--schedule", "shared_tile")
        self.assertEqual(rows["thread", "d", "write", "ffma"], 4096 ** 3)
        self.assertEqual(rows["global", "a", "read", "sectors"], 128 * 4096 * 512)

    def test_types_and_layouts(self):
        fp8 = self.rows("256", "256", "256", "--schedule", "wgmma_fp8")
        self.assertEqual(fp8["block", "a", "read", "bulk-copy bytes"], 2 * 1 * 2 * 128 * 128)
        nn = self.rows("256", "256", "256", "--schedule", "mma")
        nt = self.rows("256", "256", "256", "--schedule", "mma", "--layout", "nt", "--dtype", "f16")
        self.assertEqual(nn, nt)

    def test_refusals(self):
        for arguments, word in (
            (["64", "64", "64", "--units"], "--schedule"),
            (["64", "64", "64", "--dtype", "bf16"], "--units"),
            (["64", "64", "64", "--units", "--schedule", "packed_avx2_f32"], "cpu"),
            (["64", "64", "64", "--units", "--schedule", "mma", "--layout", "xy"], "--layout"),
        ):
            done = run("count", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    TILEWISE = sys.argv.pop(1)
    unittest.main()
