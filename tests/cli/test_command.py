"""The built command: outputs, documents, exit codes.

usage: test_command.py TILEWISE [unittest arguments]
"""

import array
import ast
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

TILEWISE = os.path.abspath(sys.argv.pop(1))

RUNGS = ["naive_rows", "naive", "shared_tile", "column_tile", "square_tile", "vector_loads",
         "conflict_free", "double_buffer", "warp_tile", "tuned_f32", "wmma", "mma", "wgmma",
         "wgmma_pipeline", "wgmma_fp8"]
VERBS = ["run", "count", "simulate", "bound", "explain", "mma", "machines", "schedules", "bench"]


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
        for verb in ("count", "simulate", "bound", "mma", "machines", "explain", "schedules"):
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

    def test_what_an_epilogue_adds_fused_and_unfused(self):
        document = self.document("count", 4096, 2048, 64, "--tile", 128, "--element-bytes", 2,
                                 "--epilogue", "gelu(acc + bias[n]) + c[m,n]")
        outputs = 4096 * 2048
        self.assertEqual(document["epilogue_cost"],
                         {"fused_bytes": 2 * (2048 + outputs), "passes": 3,
                          "unfused_bytes": 2 * (7 * outputs + 2048), "saved_bytes": 2 * 6 * outputs})
        self.assertIsNone(self.document("count", 8, 8, 8)["epilogue_cost"])
        # A matrix of 2^63 elements and more.
        huge = self.document("count", 2**33, 2**33, 1, "--epilogue", "acc + x[b,m,n]")
        self.assertEqual(huge["epilogue_cost"]["fused_bytes"], 4 * 2**66)
        done = tilewise("count", 8, 8, 8, "--epilogue", "acc +")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--epilogue", done.stderr)

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
            (0, 40, 50, ["--tile", "16", "--tile", "4"]),
            (40, 0, 50, ["--tile", "block:8x0x8"]),
            (40, 50, 0, ["--tile", "16"]),
            (70, 3, 41, ["--tile", "cluster:64", "--tile", "block:32x16x8", "--tile", "warp:13x7x3",
                         "--tile", "thread:5x3", "--tile", "instruction:2x2x2"]),
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

    def test_a_missing_barrier_shows_a_wrong_element_beside_the_right_one(self):
        document = self.document("simulate", 20, 21, 40, "--tile", 8, "--register-tile", 2,
                                 "--without-barrier", 2)
        self.assertEqual(document["tiles"], "block 8x8x8, thread 2x2")
        wrong = document["first_wrong"]
        self.assertEqual((wrong["m"], wrong["n"]), (0, 0))
        self.assertNotEqual(wrong["computed"], wrong["expected"])
        self.assertEqual(document["wrong_elements"], 20 * 21, "no warp is first in every phase")
        self.assertIn("D[4,0]", document["first_fault"])  # of four warps the last runs ahead, the third is next
        text = tilewise("simulate", 20, 21, 40, "--tile", 8, "--without-barrier", 1).stdout
        self.assertIn("first wrong     D[0,0] is ", text)
        one_phase = self.document("simulate", 8, 8, 8, "--tile", 8, "--without-barrier", 2)
        self.assertEqual(one_phase["wrong_elements"], 0)
        self.assertIsNone(one_phase["first_wrong"])

    def test_sizes_that_need_no_memory_are_only_numbers(self):
        largest = 2**63 - 1
        for sizes in ([0, 0, largest], [largest, 0, 0], [0, largest, 0]):
            self.assertEqual(self.document("simulate", *sizes)["global_reads"], 0)
            self.assertEqual(self.document("run", *sizes)["elements"], 0)

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


def write_npy(path, rows, code="f", order="<", fortran=False, vector=False):
    """A .npy file of nested lists, written without NumPy."""
    columns = len(rows[0]) if rows else 0
    values = ([row[j] for j in range(columns) for row in rows] if fortran
              else [value for row in rows for value in row])
    data = array.array(code, values)
    if order == ">":
        data.byteswap()
    kind = {"f": "f4", "d": "f8", "i": "i4", "q": "i8"}[code]
    shape = f"({len(values)},)" if vector else f"({len(rows)}, {columns})"
    header = f"{{'descr': '{order}{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.write(data.tobytes())


def parse_npy(data):
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    code = {"<f4": "f", "<f8": "d"}[header["descr"]]
    rows, columns = header["shape"]
    values = array.array(code, data[10 + length:]).tolist()
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def integers(rows, columns, seed):
    return [[(7 * i + 3 * j + seed) % 11 - 5 for j in range(columns)] for i in range(rows)]


class Run(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.a, self.b = integers(37, 19, 1), integers(19, 53, 2)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, rows, **options):
        write_npy(self.path(name), rows, **options)
        return self.path(name)

    def result(self, *arguments):
        out = self.path("out.npy")
        done = tilewise("run", *arguments, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, "rb") as file:
            return parse_npy(file.read())

    def test_the_document(self):
        document = self.document("run", 100, 70, 50)
        self.assertEqual((document["m"], document["n"], document["k"]), (100, 70, 50))
        self.assertEqual(document["dtype"], "f32")
        self.assertEqual(document["device"], "cpu")
        self.assertIs(document["verified"], True)
        self.assertEqual(document["verify"], "full", "every element where that is cheap")
        self.assertEqual(document["checked"], document["elements"])
        self.assertEqual(document["naive"], 2 * 100 * 70 * 50)
        self.assertEqual(document["minimum"], 100 * 50 + 50 * 70)
        self.assertEqual(document["bound"], document["minimum"], "it all fits the caches")
        self.assertGreater(document["time_us"], 0)
        self.assertLessEqual(document["low_us"], document["time_us"])
        self.assertLessEqual(document["time_us"], document["high_us"])
        self.assertAlmostEqual(document["gflops"], 2e-3 * 100 * 70 * 50 / document["time_us"], 6)
        self.assertGreater(document["peak_gflops"], 0)
        # The median of the turns' own shares, not the share of the medians; but of their size.
        of_medians = document["gflops"] / document["peak_gflops"]
        self.assertGreater(document["share_of_peak"], of_medians / 4)
        self.assertLess(document["share_of_peak"], of_medians * 4)
        self.assertLess(document["max_error"], document["error_bound"])
        self.assertIn("--seed 1", document["repeat"])
        self.assertIn("--threads", document["repeat"])
        named = [s["name"] for s in self.document("schedules", "--device", "cpu")["schedules"]]
        self.assertIn(document["schedule"], named)

    def test_the_levels_are_those_of_count(self):
        document = self.document("run", 200, 300, 400)
        self.assertEqual(document["levels"][-1]["level"], "register")
        tiles = [word for level in document["levels"]
                 for word in ("--tile", f"{level['level']}:{level['m']}x{level['n']}x{level['k']}")]
        counted = self.document("count", 200, 300, 400, *tiles)
        self.assertEqual(counted["levels"], document["levels"])

    def test_a_large_product_is_sampled(self):
        document = self.document("run", 700, 900, 800)
        self.assertIs(document["verified"], True)
        # Every element only where that takes no longer than the product did, at 1e9 steps a second.
        cheap = 700 * 900 * 801 <= 1e3 * max(50e3, document["time_us"]) * document["threads"]
        self.assertEqual(document["verify"], "full" if cheap else "sample")
        if cheap:  # a slow build or machine
            self.assertEqual(document["checked"], 700 * 900)
        else:
            self.assertGreaterEqual(document["checked"], 22 * 29)
            self.assertLess(document["checked"], 20 * 22 * 29)
        full = self.document("run", 700, 900, 800, "--verify", "full")
        self.assertEqual(full["checked"], 700 * 900)
        none = self.document("run", 700, 900, 800, "--verify", "none")
        self.assertIsNone(none["verified"])
        self.assertEqual(none["checked"], 0)

    def test_files(self):
        expected = product(self.a, self.b)
        for code in ("f", "d", "i", "q"):
            a = self.write("a.npy", self.a, code=code)
            b = self.write("b.npy", self.b, code=code)
            self.assertEqual(self.result(a, b), expected)

    def test_layouts(self):
        expected = product(self.a, self.b)
        a_t = [list(row) for row in zip(*self.a)]
        b_t = [list(row) for row in zip(*self.b)]
        for fortran in (False, True):
            for order in ("<", ">"):
                options = {"fortran": fortran, "order": order}
                a, b = self.write("a.npy", self.a, **options), self.write("b.npy", self.b, **options)
                at, bt = self.write("at.npy", a_t, **options), self.write("bt.npy", b_t, **options)
                self.assertEqual(self.result(a, b), expected)
                self.assertEqual(self.result(at, b, "--transpose-a"), expected)
                self.assertEqual(self.result(a, bt, "--transpose-b"), expected)
                self.assertEqual(self.result(at, bt, "--transpose-a", "--transpose-b"), expected)

    def test_bias_and_activation(self):
        a, b = self.write("a.npy", self.a), self.write("b.npy", self.b)
        bias = [(5 * j) % 17 - 8 for j in range(53)]
        for name, shape in (("v.npy", {"vector": True}), ("row.npy", {})):
            path = self.write(name, [bias], **shape)
            plain = self.result(a, b, "--bias", path)
            self.assertEqual(plain, [[x + y for x, y in zip(row, bias)]
                                     for row in product(self.a, self.b)])
            relu = self.result(a, b, "--bias", path, "--activation", "relu")
            self.assertEqual(relu, [[max(x, 0) for x in row] for row in plain])

    def test_epilogue_and_bindings(self):
        a, b = self.write("a.npy", self.a), self.write("b.npy", self.b)
        c = integers(37, 53, 4)
        rows = [[i] for i in range(37)]
        result = self.result(a, b, "--epilogue", "max(acc * s - row[m], 0) + c[m,n] / 2",
                             "--bind", "row=" + self.write("row.npy", rows),
                             "--bind", "s=" + self.write("s.npy", [[2]]),
                             "--bind", "c=" + self.write("c.npy", c))
        expected = [[max(2 * x - i, 0) + y / 2 for x, y in zip(row, crow)]
                    for i, (row, crow) in enumerate(zip(product(self.a, self.b), c))]
        self.assertEqual(result, expected)
        document = self.document("run", 40, 50, 60, "--epilogue", "gelu(acc + bias[n])")
        self.assertEqual(document["verified"], True)
        # Fused it reads the bias; as two passes it moves the output four times and the bias once.
        self.assertEqual(document["epilogue_cost"],
                         {"fused_bytes": 50 * 4, "passes": 2, "unfused_bytes": 4 * 40 * 50 * 4 + 50 * 4,
                          "saved_bytes": 4 * 40 * 50 * 4})
        self.assertIsNone(self.document("run", 4, 5, 6)["epilogue_cost"])
        text = tilewise("run", 40, 50, 60, "--epilogue", "gelu(acc + bias[n])").stdout
        self.assertIn("epilogue adds 200 B when fused; as 2 passes of its own it would move 32.2 kB, "
                      "32.0 kB more", text)

    def test_other_types(self):
        for dtype in ("f64", "bf16", "f16"):
            document = self.document("run", 60, 70, 80, "--dtype", dtype)
            self.assertEqual(document["dtype"], dtype)
            self.assertIs(document["verified"], True)
        self.assertLess(self.document("run", 60, 70, 80, "--dtype", "f64")["max_error"], 1e-12)

    def test_standard_input_and_output(self):
        a, b = self.write("a.npy", self.a), self.write("b.npy", self.b)
        with open(a, "rb") as stream:
            done = subprocess.run([TILEWISE, "run", "-", b, "-o", "-"], stdin=stream,
                                  capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(parse_npy(done.stdout), product(self.a, self.b))
        self.assertIn(b"GFLOP/s", done.stderr, "the words move to standard error")

    def test_empty_products(self):
        for m, n, k in ((0, 5, 5), (5, 0, 5), (5, 5, 0), (0, 0, 0)):
            out = self.path("out.npy")
            document = self.document("run", m, n, k, "-o", out)
            self.assertIs(document["verified"], True)
            with open(out, "rb") as file:
                self.assertEqual(parse_npy(file.read()), [[0] * n for _ in range(m)])

    def test_the_same_seed_is_the_same_product_for_any_number_of_threads(self):
        outputs = []
        for seed, threads in ((5, 1), (5, 2), (6, 1)):
            out = self.path(f"{seed}.{threads}.npy")
            self.document("run", 150, 160, 170, "--seed", seed, "--threads", threads, "-o", out)
            with open(out, "rb") as file:
                outputs.append(file.read())
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_a_failed_request_leaves_the_output_that_was_there(self):
        out = self.path("out.npy")
        with open(out, "w") as file:
            file.write("mine")
        a = self.write("a.npy", self.a)
        for arguments in ([a, a], [a, self.path("absent.npy")], [8, 8, 8, "--schedule", "mma"]):
            done = tilewise("run", *arguments, "-o", out, env={"CUDA_VISIBLE_DEVICES": ""})
            self.assertIn(done.returncode, (2, 3))
            with open(out) as file:
                self.assertEqual(file.read(), "mine")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy", "out.npy"])

    def test_the_repeat_command_repeats(self):
        first = self.document("run", 40, 50, 60, "--seed", 9, "--activation", "relu")
        again = self.document(*first["repeat"].split()[1:])
        self.assertEqual(first["max_error"], again["max_error"])
        self.assertEqual(first["repeat"], again["repeat"])

    def test_the_repeat_command_can_be_given_to_a_shell(self):
        a = self.write("it's a.npy", self.a)
        self.write("-b.npy", self.b)
        out = self.path("out.npy")
        first = subprocess.run([TILEWISE, "run", "-o", out, "--json", "--epilogue=-acc", "--", a,
                                "-b.npy"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(first.returncode, 0, first.stderr)
        with open(out, "rb") as file:
            expected = file.read()
        os.remove(out)
        repeat = json.loads(first.stdout)["repeat"]
        again = subprocess.run(["bash", "-c", repeat], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(f"repeat  {repeat}\n", again.stdout)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), expected)

    def test_a_named_schedule_of_the_cpu_runs_on_its_own_instruction_set(self):
        ran = 0
        for schedule in self.document("schedules", "--device", "cpu")["schedules"]:
            name, dtype = schedule["name"], "f64" if schedule["compute"] == "f64" else "f32"
            done = tilewise("run", 30, 40, 50, "--dtype", dtype, "--schedule", name, "--json")
            if done.returncode == 3:
                self.assertIn("this machine does not have", done.stderr)
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual(document["schedule"], name)
            self.assertIn(f"_{document['target']}_", name)
            ran += 1
        self.assertGreaterEqual(ran, 2)

    def test_progress_is_shown_on_a_terminal_after_two_seconds(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        b = self.write("b.npy", self.b)
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        running = subprocess.Popen([TILEWISE, "run", fifo, b], stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        with open(self.write("a.npy", self.a), "rb") as file, open(fifo, "wb") as writer:
            shown = b""
            while b"reading A and B, 2 s" not in shown:  # it waits for us; ends with EIO if it ends
                shown += os.read(ours, 4096)
            writer.write(file.read())
        stdout = running.communicate(timeout=120)[0]
        self.assertEqual(running.returncode, 0)
        self.assertIn(b"all within the bound", stdout)

    def test_no_gpu_is_a_missing_capability(self):
        done = tilewise("run", 64, 64, 64, "--schedule", "mma", env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "")

    def test_text(self):
        text = tilewise("run", 300, 200, 100).stdout
        for word in ("GFLOP/s", "register loop", "error", "checked", "minimum", "bound", f"repeat  {TILEWISE} run"):
            self.assertIn(word, text)


class Output(CommandTest):
    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TILEWISE, "schedules"], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
