"""bound, mma, machines and explain: figures, conventions, messages.

usage: test_model_verbs.py TILEWISE [unittest arguments]
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TILEWISE = os.path.abspath(sys.argv.pop(1))


def tilewise(*arguments):
    return subprocess.run([TILEWISE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


class ModelTest(unittest.TestCase):
    def document(self, *arguments):
        done = tilewise(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *arguments, code=2):
        done = tilewise(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr


class Bound(ModelTest):
    def test_floor_optimum_and_conventions(self):
        answer = self.document("bound", 2, 2, 2, "--fast-memory", 3, "--optimal")
        self.assertEqual(answer["optimal"]["reads_and_writes"], 17)
        self.assertEqual((answer["beta"], answer["counted"]), (0, "reads+writes"))
        self.assertEqual(self.document("bound", 2, 2, 2, "--fast-memory", 3, "--optimal", "--beta",
                                       1)["optimal"]["reads_and_writes"], 21)
        text = tilewise("bound", 1024, 1024, 1024, "--fast-memory", 16384).stdout
        for part in ("beta = 0", "94x173", "18,874,368", "not a floor", "segments"):
            self.assertIn(part, text)

    def test_mixed_sizes(self):
        answer = self.document("bound", 8192, 8192, 8192, "--fast-memory", 495616, "--memories", 132,
                               "--element-bytes", "2,2,4", "--beta", 1)
        self.assertAlmostEqual(answer["mixed"]["floor_bytes"] / 1e6, 6116.4, delta=0.06)
        self.assertEqual(answer["fast_memory_unit"], "bytes")

    def test_zero_dimensions_compare_nothing(self):
        answer = self.document("bound", 0, 5, 5, "--fast-memory", 9)
        self.assertIs(answer["compared"], False)
        self.assertEqual(answer["floor"], 0)

    def test_refusals(self):
        self.assertIn("fast memory is 2", self.refused("bound", 2, 2, 2, "--fast-memory", 2))
        self.assertIn("2,2,4", self.refused("bound", 2, 2, 2, "--fast-memory", 9, "--element-bytes", "2,2"))
        self.assertIn("--beta", self.refused("bound", 2, 2, 2, "--fast-memory", 9, "--beta", 2))
        self.assertIn("112 bits", self.refused("bound", 4, 4, 4, "--fast-memory", 9, "--optimal"))


class Mma(ModelTest):
    def test_count(self):
        answer = self.document("mma", 17, 17, 17)
        self.assertEqual(answer["instructions"], 12)
        self.assertAlmostEqual(answer["utilization"], 4913 / (32 * 24 * 32))
        self.assertEqual((answer["padded_m"], answer["padded_n"], answer["padded_k"]), (32, 24, 32))
        self.assertEqual(self.document("mma", 8192, 8192, 8192, "--shape", "64x256x16")["instructions"],
                         2097152)
        zero = self.document("mma", 0, 8, 16)
        self.assertEqual((zero["instructions"], zero["utilization"]), (0, 0))

    def test_layout(self):
        layout = self.document("mma", "--layout", "m16n8k16")
        a, b, c = layout["fragments"]
        self.assertEqual(a["holders"][9][10], [5, 6])
        self.assertEqual(b["holders"][15][7], [31, 3])
        self.assertEqual(c["holders"][9][4], [6, 2])
        wgmma = self.document("mma", "--layout", "m64n128k16")["fragments"][-1]
        self.assertEqual((wgmma["operand"], wgmma["rows"], wgmma["columns"]), ("c", 64, 128))
        self.assertEqual(wgmma["holders"][17][2], [37, 0])

    def test_refusals(self):
        self.assertIn("16x8x16", self.refused("mma", 1, 1, 1, "--shape", "16x8"))
        self.assertIn("m16n8k16", self.refused("mma", "--layout", "m16n16k16"))


class Machines(ModelTest):
    def test_every_figure_has_a_source(self):
        machines = self.document("machines")["machines"]
        names = [machine["name"] for machine in machines]
        self.assertEqual(names, ["a100", "a6000", "b200", "h100", "h200", "rtx4090", "host"])

        def figures(node):
            if isinstance(node, dict):
                if "value" in node:
                    yield node
                for child in node.values():
                    yield from figures(child)
            elif isinstance(node, list):
                for child in node:
                    yield from figures(child)

        for figure in figures(machines):
            self.assertTrue(figure["source"], figure)
        for machine in machines:
            self.assertTrue(machine["num_units_source"], machine["name"])
            if machine["device"] == "gpu":
                self.assertTrue(machine["limits"]["source"], machine["name"])
        text = tilewise("machines", "h200").stdout
        for row in ("SMs", "shared memory of a block", "warps of an SM"):
            self.assertIn(row, text)

    def test_measure_fills_in_this_machine(self):
        host = self.document("machines", "--measure")["machines"][0]
        self.assertEqual(host["name"], "host")
        self.assertGreater(host["peaks"][0]["measured_tflops"]["value"], 0)
        for level in host["memory"]:
            self.assertGreater(level["measured_bandwidth_gbps"]["value"], 0, level["name"])

    def test_refusals(self):
        self.assertIn('did you mean "h200"', self.refused("machines", "h20"))
        self.assertIn("--measure", self.refused("machines", "h200", "--measure"))


class Explain(ModelTest):
    def test_a_chosen_schedule_with_its_terms(self):
        answer = self.document("explain", 8192, 8192, 8192, "--dtype", "bf16", "--machine", "h200")
        self.assertIs(answer["chosen"], True)
        self.assertEqual(answer["schedule"]["name"], "wgmma_pipeline")
        self.assertEqual(answer["time_us"], max(term["time_us"] for term in answer["terms"]))
        self.assertAlmostEqual(answer["ridge"], 206, delta=0.5)
        self.assertAlmostEqual(answer["block"]["intensity"], 85, delta=0.5)
        quantities = {row["quantity"] for row in answer["rows"]}
        self.assertEqual(quantities, {"elements", "issued", "units", "bytes"})
        for level in answer["levels"]:
            if level["bound_bytes"] is not None:
                self.assertLessEqual(level["bound_bytes"], level["bytes"])
        h100 = self.document("explain", 8192, 8192, 8192, "--dtype", "bf16", "--machine", "h100")
        self.assertAlmostEqual(h100["ridge"], 295, delta=0.5)

    def test_a_given_schedule_and_what_would_change_it(self):
        answer = self.document("explain", 4096, 4096, 4096, "--schedule", "square_tile")
        self.assertEqual(answer["limiter"], "shared memory")
        self.assertIn("What would change it", answer["remedy"])
        self.assertLess(answer["changes"][0]["time_us"], answer["time_us"])

    def test_this_machine(self):
        answer = self.document("explain", 300, 300, 300, "--machine", "host")
        self.assertIsNone(answer["time_us"])
        self.assertEqual(answer["schedule"]["device"], "cpu")
        measured = self.document("explain", 300, 300, 300, "--machine", "host", "--measure")
        self.assertGreater(measured["time_us"], 0)

    def test_what_an_epilogue_adds_fused_and_unfused(self):
        arguments = ("explain", 4096, 4096, 64, "--epilogue", "relu(acc + bias[n])")
        cost = self.document(*arguments)["epilogue_cost"]
        outputs = 4096 * 4096 * 4
        self.assertEqual((cost["fused_bytes"], cost["passes"]), (4096 * 4, 2))
        self.assertEqual(cost["saved_bytes"], 4 * outputs)
        self.assertIn("as 2 passes of its own it would move", tilewise(*arguments).stdout)
        self.assertIsNone(self.document("explain", 64, 64, 64)["epilogue_cost"])

    def test_zero_dimensions(self):
        answer = self.document("explain", 0, 5, 5, "--machine", "h200")
        self.assertIsNone(answer["time_us"])
        for level in answer["levels"]:
            self.assertEqual(level["reads"], 0)
            self.assertIsNone(level["bound_bytes"])

    def test_drawing(self):
        done = tilewise("explain", 4096, 4096, 4096, "--dtype", "bf16", "--svg", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        root = xml.etree.ElementTree.fromstring(done.stdout)
        words = [node.text for node in root.iter() if node.tag.endswith("text")]
        for word in ("FLOP a byte", "C 4096 x 4096", "1 block, from global: 85.33"):
            self.assertIn(word, words)
        self.assertTrue(any(word.startswith("4 dram: ") for word in words), words)

    def test_refusals(self):
        message = self.refused("explain", 64, 64, 64, "--machine", "h20")
        self.assertTrue(message.startswith("tilewise explain: unknown machine"), message)
        self.assertIn('did you mean "h200"', message)
        self.assertIn("pad to 1024", self.refused("explain", 64, 64, 1021, "--dtype", "bf16",
                                                  "--schedule", "wgmma"))
        self.assertIn("sm_90", self.refused("explain", 64, 64, 64, "--dtype", "bf16", "--machine",
                                            "a100", "--schedule", "wgmma", code=3))
        self.assertIn("no named schedule multiplies f64", self.refused("explain", 64, 64, 64, "--dtype", "f64"))
        self.assertIn("m64nNk32", self.refused("explain", 64, 64, 64, "--dtype", "f8e4m3", "--schedule", "wgmma"))
        self.assertIn("swap_ab", self.refused("explain", 64, 64, 64, "--schedule", self.swapped()))
        self.assertIn("nn, nt, tn and tt", self.refused("explain", 64, 64, 64, "--layout", "tnt"))

    def swapped(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "swapped.json")
        schedule = {"schema": "tilewise.schedule/1", "name": "swapped", "kernel": "square_tile", "device": "gpu",
                    "tiles": [{"level": "block", "m": 64, "n": 64, "k": 8}, {"level": "thread", "m": 4, "n": 4}],
                    "swap_ab": True}
        with open(path, "w") as file:
            json.dump(schedule, file)
        return path

    def test_compute_and_layout_decide_the_schedule(self):
        def name(*options):
            answer = self.document("explain", 4096, 4096, 4096, "--machine", "h200", *options)
            return answer["schedule"]["name"], answer["layout"]

        self.assertEqual(name("--compute", "tf32"), ("mma_tf32", "nn"))
        self.assertEqual(name("--compute", "tf32", "--layout", "nt"), ("wgmma_pipeline_tf32", "nt"))
        self.assertEqual(name("--dtype", "f8e4m3"), ("wgmma_fp8", "nt"))
        self.assertEqual(self.document("explain", 64, 64, 64, "--machine", "h200")["compute"], "f32")
        self.assertIn("layout nt", self.refused("explain", 64, 64, 64, "--dtype", "f8e4m3", "--layout", "nn"))
        self.assertIn("mma_tf32", self.refused("explain", 64, 64, 64, "--compute", "tf32", "--schedule", "mma"))
        self.assertIn("compute f32", self.refused("explain", 64, 64, 64, "--dtype", "bf16", "--compute", "tf32"))

    def test_batches(self):
        one = self.document("explain", 512, 512, 512, "--dtype", "bf16")
        six = self.document("explain", 512, 512, 512, "--dtype", "bf16", "--batch", 6, "--schedule",
                            one["schedule"]["name"])
        self.assertEqual(six["memories"][1]["bytes"], 6 * one["memories"][1]["bytes"])
        self.assertEqual(int(six["waves"]["tiles"]), 6 * int(one["waves"]["tiles"]))


if __name__ == "__main__":
    unittest.main()
