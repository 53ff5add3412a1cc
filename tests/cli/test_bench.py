"""tilewise bench, and bench compare, as built.

usage: test_bench.py TILEWISE
"""

import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

TILEWISE = os.path.abspath(sys.argv.pop(1))


def read_all(terminal):
    """What was written to a terminal whose other end is closed: one read may return a part of it."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:  # Linux's end of file of a terminal
        pass
    return b"".join(parts)


SUITE = "name,m,n,k,batch\nsmall,40,50,60,1\nthree,10,20,30,3\nrow,1,64,64,1\nempty,0,5,5,1\n"
FIELDS = {"suite", "name", "m", "n", "k", "batch", "dtype", "layout", "compute", "scale", "epilogue",
          "schedule", "device", "threads", "time_us", "low_us", "high_us", "tflops", "share_of_peak",
          "verified", "max_error", "error_bound", "without_epilogue_us", "power_w", "clock_mhz", "rivals",
          "ratio"}


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.suite = self.file("shapes.csv", SUITE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def tilewise(self, *arguments, code=0):
        done = subprocess.run([TILEWISE, "bench", *map(str, arguments)], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def measure(self, *arguments):
        done = self.tilewise("--suite", self.suite, "--seconds", 0.01, "--json", *arguments)
        return json.loads(done.stdout)

    def test_the_document(self):
        document = self.measure("--device", "cpu")
        self.assertEqual(document["schema"], "tilewise.bench/1")
        for key in ("machine", "cpu", "compiler", "commit", "date", "command", "data"):
            self.assertNotEqual(document["environment"][key], "")
        rows = document["rows"]
        self.assertEqual([row["name"] for row in rows], ["small", "three", "row", "empty"])
        for row in rows:
            self.assertEqual(set(row), FIELDS)
            self.assertEqual(row["suite"], "shapes")
            self.assertEqual(row["device"], "cpu")
            self.assertIs(row["verified"], True)
            self.assertLessEqual(row["low_us"], row["time_us"])
            self.assertLessEqual(row["time_us"], row["high_us"])
        self.assertEqual(rows[1]["batch"], 3)
        self.assertEqual(set(document["summary"]), {"of", "geomean", "worst", "worst_name"})

    def test_layouts_types_and_epilogue(self):
        for layout in ("nn", "nt", "tn", "tt"):
            for row in self.measure("--layout", layout, "--dtype", "f64")["rows"]:
                self.assertIs(row["verified"], True)
                self.assertEqual((row["layout"], row["dtype"]), (layout, "f64"))
        expression = "gelu(acc + bias[n]) * s + c[m,n]"
        for row in self.measure("--epilogue", expression, "--dtype", "bf16")["rows"]:
            self.assertIs(row["verified"], True)
            self.assertEqual(row["epilogue"], expression)

    def test_an_epilogue_stands_beside_the_product_without_it(self):
        for row in self.measure("--epilogue", "relu(acc + bias[n])")["rows"]:
            self.assertGreater(row["without_epilogue_us"], 0)
            self.assertEqual(row["rivals"], [])
        self.assertIsNone(self.measure()["rows"][0]["without_epilogue_us"])
        table = self.tilewise("--suite", self.suite, "--seconds", 0, "--epilogue", "relu(acc)").stdout
        self.assertIn("without epilogue us", table)

    def test_the_error_and_its_bound_are_of_one_element(self):
        # The element that uses most of its bound: within it, by more than no element at all.
        for dtype in ("f32", "bf16"):
            for row in self.measure("--dtype", dtype, "--verify", "full")["rows"]:
                self.assertLessEqual(row["max_error"], row["error_bound"])

    def test_openblas_where_it_is_installed(self):
        command = [TILEWISE, "bench", "--suite", self.suite, "--seconds", "0.01", "--against",
                   "openblas"]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=120)
        if done.returncode == 3:
            self.assertIn("OpenBLAS was not found", done.stderr)
            self.skipTest("OpenBLAS is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["summary"]["of"], "ratio")
        for row in document["rows"]:
            rival = row["rivals"][0]
            self.assertEqual(set(rival), {"name", "version", "kernel", "time_us", "tflops"})
            self.assertNotEqual(rival["kernel"], "")
            self.assertAlmostEqual(row["ratio"], rival["time_us"] / row["time_us"])
        text = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        self.assertIn("openblas us", text)
        self.assertIn(f"kernels {document['rows'][0]['rivals'][0]['kernel']}", text)

    def test_large_shapes_are_left_out_with_a_word(self):
        done = self.tilewise("--suite", self.suite, "--max-gflop", 0.0001, "--seconds", 0)
        self.assertNotIn("small", done.stdout)
        self.assertIn("row", done.stdout)
        self.assertIn("left out", done.stderr)

    def test_an_output_file_beside_the_table(self):
        out = self.path("a.json")
        done = self.tilewise("--suite", self.suite, "--seconds", 0, "-o", out)
        self.assertIn("geometric mean", done.stdout)
        with open(out) as file:
            self.assertEqual(json.load(file)["schema"], "tilewise.bench/1")

    def changed(self, name, factor, verified=True):
        rows = [{"suite": "s", "name": "x", "time_us": 100 * factor, "low_us": 99 * factor,
                 "high_us": 101 * factor, "verified": verified}]
        return self.file(name, json.dumps({"schema": "tilewise.bench/1", "rows": rows}))

    def test_compare(self):
        before = self.changed("before.json", 1)
        same = self.tilewise("compare", before, self.changed("same.json", 1.01))
        self.assertIn("+1.0 %", same.stdout)
        slower = self.changed("slower.json", 1.1)
        self.assertIn("slower", self.tilewise("compare", before, slower, code=4).stdout)
        self.tilewise("compare", before, slower, "--threshold", 20)
        self.assertIn("faster", self.tilewise("compare", slower, before).stdout)
        self.tilewise("compare", before, self.changed("wrong.json", 0.5, False), code=4)
        document = json.loads(self.tilewise("compare", before, slower, "--json", code=4).stdout)
        self.assertEqual(document["schema"], "tilewise.compare/1")
        self.assertIs(document["regression"], True)
        self.assertAlmostEqual(document["rows"][0]["ratio"], 1.1)

    def test_a_measurement_compares_with_itself(self):
        out = self.path("a.json")
        self.tilewise("--suite", self.suite, "--seconds", 0, "-o", out)
        self.tilewise("compare", out, out, "--threshold", 0)

    def test_progress_is_shown_on_a_terminal_after_two_seconds(self):
        suite = self.file("slow.csv", "name,m,n,k,batch\nslow,600,600,600,1\n")
        command = [TILEWISE, "bench", "--suite", suite, "--seconds", "2.8", "--verify", "none"]
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=120)
        os.close(theirs)
        shown = read_all(ours)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"slow: computing, 2 s", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), "the line is erased")
        self.assertNotIn(b"computing", done.stdout)

    def test_bad_requests(self):
        good = self.changed("good.json", 1)
        cases = [
            ([], "--suite is missing"),
            (["--suite", self.path("absent.csv")], "absent.csv"),
            (["--suite", good], "name,m,n,k,batch"),
            (["--suite", self.file("e.csv", "name,m,n,k,batch\nx,1,2\n")], "line 2"),
            (["--suite", self.file("l.csv", "name,m,n,k,batch\nx,9999999,9999999,9,1\n")], "memory"),
            (["--suite", self.file("v.csv", "name,m,n,k,batch\nx,1,9223372036854775807,9223372036854775807,2\n")],
             "2^63"),
            (["--suite", self.suite, "--against", "mkl"], '"mkl"'),
            (["--suite", self.suite, "--against", "openblas", "--dtype", "bf16"], "f32 and f64"),
            (["--suite", self.suite, "--against", "openblas", "--epilogue", "acc + 1"], "epilogue"),
            (["--suite", self.suite, "--dtype", "f31"], "f31"),
            (["--suite", self.suite, "--dtype", "f8e4m3"], "f8e4m3"),
            (["--suite", self.suite, "--layout", "xn"], '"xn"'),
            (["--suite", self.suite, "--epilogue", "acc+"], "--epilogue"),
            (["--suite", self.suite, "--seconds", "nan"], "--seconds"),
            (["--suite", self.suite, "--seconds", "-1"], "--seconds"),
            (["--suite", self.file("o.csv", "name,m,n,k,batch\nx,8,8,8,1\n"), "--max-gflop",
              "1e-30"], "no shape"),
            (["--suite", self.suite, "--device", "tpu"], '"tpu"'),
            (["--suite", self.suite, "-o", self.path("absent/a.json")], "absent"),
            (["compaer", good, good], '"compaer"'),
            (["compare", good], "two documents"),
            (["compare", good, self.path("absent.json")], "absent.json"),
            (["compare", good, self.suite], "not valid JSON"),
            (["compare", good, self.file("o.json", '{"schema": "x"}')], "tilewise.bench/1"),
            (["compare", good, good, "--threshold", "much"], '"much"'),
        ]
        for arguments, expected in cases:
            with self.subTest(arguments):
                done = self.tilewise(*arguments, code=2)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")
        self.tilewise("--suite", self.suite, "--device", "gpu", code=3)


if __name__ == "__main__":
    unittest.main()
