"""The built command: outputs, documents, exit codes.

usage: test_command.py TILEWISE [unittest arguments]
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TILEWISE = os.path.abspath(sys.argv.pop(1))

RUNGS = ["naive_rows", "naive", "shared_tile", "column_tile", "square_tile", "vector_loads",
         "conflict_free", "double_buffer", "warp_tile", "tuned_f32", "wmma", "mma", "wgmma",
         "wgmma_pipeline", "wgmma_fp8"]
VERBS = ["count", "simulate", "bound", "mma", "machines", "schedules"]


def tilewise(*arguments, **options):
    return subprocess.run([TILEWISE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, **options)


class CommandTest(unittest.TestCase):
    def document(self, *arguments):
        """The JSON document of a command that succeeds, with what every document has."""
        done = tilewise(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        document = json.loads(done.stdout)
        self.assertRegex(document["schema"], r"^tilewise\.[a-z]+/1$")
        environment = document["environment"]
        for key in ("version", "commit", "compiler", "cpu", "date", "command", "data"):
            self.assertIsInstance(environment[key], str)
            self.assertNotEqual(environment[key], "")
        self.assertRegex(environment["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertTrue(environment["command"].startswith("tilewise " + arguments[0]))
        return document


class Help(CommandTest):
    def test_every_verb_begins_with_examples(self):
        for verb in VERBS:
            done = tilewise(verb, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0], "Examples:")
            self.assertTrue(lines[1].startswith(f"  tilewise {verb}"), lines[1])
            self.assertIn("--json", done.stdout)

    def test_the_examples_of_the_cheap_verbs_work(self):
        for verb in ("count", "simulate", "bound", "mma", "machines", "schedules"):
            for line in tilewise(verb, "--help").stdout.splitlines()[1:]:
                if not line.strip():
                    break
                arguments = line.split(">")[0].split()[1:]
                done = tilewise(*arguments)
                self.assertEqual(done.returncode, 0, (line, done.stderr))
                self.assertNotEqual(done.stdout, "")

    def test_overview(self):
        for arguments in (["--help"], ["-h"], ["help"]):
            done = tilewise(*arguments)
            self.assertEqual(done.returncode, 0)
            for verb in VERBS:
                self.assertIn(f"\n  {verb} ", done.stdout)
        nothing = tilewise()
        self.assertEqual(nothing.returncode, 2)
        self.assertEqual(nothing.stdout, "")
        self.assertIn("Commands:", nothing.stderr)

    def test_version(self):
        self.assertRegex(tilewise("--version").stdout, r"^tilewise \d+\.\d+\.\d+\n$")


class Count(CommandTest):
    def expect(self, m, n, k, b, document):
        ceil = lambda x, y: -(-x // y)
        self.assertEqual(document["naive"], 2 * m * n * k)
        self.assertEqual(document["tiled"], m * k * ceil(n, b) + k * n * ceil(m, b))
        self.assertEqual(document["minimum"], m * k + k * n)

    def test_square_tiles(self):
        for m, n, k, b in [(4096, 4096, 4096, 128), (100, 70, 33, 32), (1, 1, 1, 1), (7, 5, 3, 64)]:
            document = self.document("count", m, n, k, "--tile", b)
            self.expect(m, n, k, b, document)
            self.assertEqual(document["levels"][0]["level"], "block")
            self.assertEqual(document["phases"], -(-k // b))

    def test_the_textbook_figures(self):
        document = self.document("count", 4096, 4096, 4096, "--tile", "128", "--tile", "8")
        self.assertEqual(4 * document["naive"], 549755813888)
        self.assertEqual(4 * document["minimum"], 134217728)
        thread = document["levels"][1]
        self.assertEqual(thread["level"], "thread")
        self.assertEqual(thread["reads"], 2 * 4096**3 // 8)
        self.assertEqual((thread["reuse_a"], thread["reuse_b"]), (8, 8))
        for tile, intensity in (("128", 64), ("128x256x64", 85.33333333333333)):
            level = self.document("count", 8192, 8192, 8192, "--tile", tile, "--element-bytes", 2)
            self.assertEqual(level["levels"][0]["intensity"], intensity)

    def test_sizes_of_2_to_31_and_more_are_exact(self):
        m, n, k = 2**31, 2**31 - 1, 2**31 - 19
        done = tilewise("count", m, n, k, "--tile", 100, "--json")
        self.assertIn(f'"naive": {2 * m * n * k},', done.stdout)
        self.expect(m, n, k, 100, json.loads(done.stdout))
        large = 2**41
        self.expect(large, large, large, 2**20 - 1, self.document("count", large, large, large,
                                                                  "--tile", 2**20 - 1))

    def test_a_count_past_127_bits_is_an_error(self):
        largest = 2**63 - 1
        done = tilewise("count", largest, largest, largest, "--tile", 8, "--json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn(str(largest), done.stderr)

    def test_level_names_widths_and_any_order(self):
        tiles = ["--tile", "thread:8x4", "--tile", "warp:64x32", "--tile", "block:128x96x16"]
        document = self.document("count", 1000, 900, 800, *tiles)
        levels = [(x["level"], x["m"], x["n"], x["k"]) for x in document["levels"]]
        self.assertEqual(levels, [("block", 128, 96, 16), ("warp", 64, 32, 0), ("thread", 8, 4, 0)])
        self.assertEqual(document["phases"], 50)
        self.assertIsNone(document["schedule"])
        for level in document["levels"]:
            self.assertEqual(level["reads"], level["reads_a"] + level["reads_b"])
            self.assertAlmostEqual(level["reuse_a"], 1000 * 900 * 800 / level["reads_a"])

    def test_zero_dimensions_read_nothing(self):
        for sizes in ([0, 5, 5], [5, 0, 5], [5, 5, 0]):
            document = self.document("count", *sizes, "--tile", 4)
            self.assertEqual(document["minimum"], 0)
            self.assertEqual(document["tiled"], 0)

    def test_without_a_tiling_it_is_the_naive_product(self):
        document = self.document("count", 10, 20, 30)
        self.assertEqual(document["schedule"], "naive")
        self.assertEqual(document["tiled"], document["naive"])

    def test_every_named_schedule_is_counted(self):
        for name in RUNGS:
            document = self.document("count", 300, 200, 100, "--schedule", name)
            self.assertEqual(document["schedule"], name)

    def test_text(self):
        text = tilewise("count", 4096, 4096, 4096, "--tile", 128).stdout
        self.assertIn("137,438,953,472", text)
        self.assertIn("549.8 GB", text)
        self.assertIn("134.2 MB", text)


class Simulate(CommandTest):
    def test_equals_count_at_every_level(self):
        cases = [
            (100, 70, 33, ["--tile", "32", "--tile", "8"]),
            (33, 65, 17, ["--tile", "block:16x32x5", "--tile", "warp:7x9", "--tile", "thread:3x2"]),
            (5, 4, 3, ["--tile", "64"]),
            (40, 40, 40, ["--schedule", "warp_tile"]),
            (40, 50, 60, ["--schedule", "mma"]),
        ]
        for m, n, k, tiling in cases:
            simulated = self.document("simulate", m, n, k, *tiling)
            counted = self.document("count", m, n, k, *tiling)
            self.assertEqual(simulated["global_reads"], counted["tiled"])
            self.assertEqual(simulated["phases"], counted["phases"])
            self.assertEqual(simulated["blocks"], counted["blocks"])
            self.assertTrue(simulated["equals_count"])
            for x, y in zip(simulated["levels"], counted["levels"], strict=True):
                self.assertEqual((x["level"], x["reads_a"], x["reads_b"]),
                                 (y["level"], y["reads_a"], y["reads_b"]))
            self.assertLessEqual(simulated["max_error"], simulated["error_bound"])

    def test_register_tile_is_short_for_a_thread_tile(self):
        long = self.document("simulate", 50, 60, 70, "--tile", 24, "--tile", "thread:5")
        short = self.document("simulate", 50, 60, 70, "--tile", 24, "--register-tile", 5)
        for key in ("global_reads", "shared_reads", "phases", "blocks", "max_error"):
            self.assertEqual(long[key], short[key])

    def test_one_level_reads_shared_memory_twice_a_multiply_add(self):
        self.assertEqual(self.document("simulate", 20, 30, 40, "--tile", 16)["shared_reads"],
                         2 * 20 * 30 * 40)

    def test_the_seed_decides_the_numbers(self):
        errors = [self.document("simulate", 30, 30, 300, "--seed", seed)["max_error"]
                  for seed in (1, 1, 2)]
        self.assertEqual(errors[0], errors[1])
        self.assertNotEqual(errors[0], errors[2])

    def test_f64(self):
        document = self.document("simulate", 30, 30, 30, "--dtype", "f64")
        self.assertLess(document["max_error"], 1e-12)

    def test_a_missing_barrier_gives_a_wrong_result_and_says_where(self):
        for barrier in (1, 2):
            document = self.document("simulate", 64, 64, 64, "--tile", 16, "--without-barrier",
                                     barrier)
            self.assertEqual(document["without_barrier"], barrier)
            self.assertGreater(document["wrong_elements"], 0)
            self.assertGreater(document["max_error"], 0.01)
            self.assertIn("D[", document["first_fault"])

    def test_what_would_not_end_is_refused(self):
        done = tilewise("simulate", 10**6, 10**6, 10**6)
        self.assertEqual(done.returncode, 2)
        self.assertIn("2^40", done.stderr)


class Schedules(CommandTest):
    def test_the_rungs_in_order(self):
        names = [schedule["name"] for schedule in self.document("schedules")["schedules"]]
        self.assertEqual(names[:15], RUNGS)
        lines = tilewise("schedules").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:16]], RUNGS)

    def test_one_in_full_reads_back(self):
        text = tilewise("schedules", "conflict_free").stdout
        self.assertEqual(json.loads(text)["schema"], "tilewise.schedule/1")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            with open(path, "w") as file:
                file.write(text)
            by_file = self.document("count", 500, 400, 300, "--schedule", path)
        by_name = self.document("count", 500, 400, 300, "--schedule", "conflict_free")
        self.assertEqual(by_file["levels"], by_name["levels"])

    def test_by_device(self):
        for device in ("cpu", "gpu"):
            for schedule in self.document("schedules", "--device", device)["schedules"]:
                self.assertEqual(schedule["device"], device)


class Output(CommandTest):
    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TILEWISE, "schedules"], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
