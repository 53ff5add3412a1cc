"""The scripts and the program that a GPU machine runs, as far as they go without one.

usage: test_scripts.py GPU_RUNGS SOURCE_FOLDER [unittest arguments]
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RUNGS = FOLDER = ""


def rungs(*arguments):
    return subprocess.run([RUNGS, *arguments], capture_output=True, text=True, timeout=300)


def counters_module():
    spec = importlib.util.spec_from_file_location("check_counters", FOLDER / "check_counters.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


class Rungs(unittest.TestCase):
    def test_the_sanitizers_groups_are_all_named_gpu_schedules(self):
        listed = rungs("list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        script = (FOLDER / "sanitize.sh").read_text()
        groups = re.search(r"^groups=\(\n(.*?)^\)", script, re.M | re.S).group(1)
        named = [name for group in re.findall(r'"([^"]*)"', groups) for name in group.split()]
        self.assertEqual(sorted(named), sorted(listed.stdout.split()))

    def test_without_a_gpu_one_sentence_and_exit_code_3(self):
        done = rungs("refusals", "wgmma")
        if done.returncode == 0:
            self.skipTest("there is a GPU")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_bad_requests(self):
        self.assertEqual(rungs().returncode, 2)
        self.assertEqual(rungs("grid").returncode, 2)
        self.assertEqual(rungs("list", "no_such_rung").returncode, 2)


def row(unit, value, operand="d", direction="write"):
    return {"level": "", "operand": operand, "direction": direction, "quantity": "units",
            "unit": unit, "value": value}


CASE = {"schedule": "vector_loads", "kernel": "vector_loads", "shape": "divisible",
        "predicted": [row("ffma", 640), row("sectors", 16, "a", "read"),
                      row("sectors", 4, "b", "read"), row("wavefronts", 6, "a", "write"),
                      row("wavefronts", 7, "a", "read"), row("wavefronts", 93, "b", "read")]}
LAUNCH = {"kernel": "tilewise_kernel",
          "metrics": {"smsp__sass_thread_inst_executed_op_ffma_pred_on": 640,
                      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld": 20,
                      "l1tex__data_pipe_lsu_wavefronts_mem_shared": 107},
          "instructions": [
              {"sass": "LDG.E.128 R4, [R2.64]", "memory_l2_theoretical_sectors_global": 20},
              {"sass": "@P0 FFMA R1, R2, R3, R1", "thread_inst_executed_true": 640},
              {"sass": "LDS.128 R4, [R2]", "memory_l1_wavefronts_shared": 100},
              {"sass": "@!PT LDS RZ, [RZ]", "memory_l1_wavefronts_shared": 0},
              {"sass": "STS.128 [R2], R4", "memory_l1_wavefronts_shared": 6}]}


class Counters(unittest.TestCase):
    def setUp(self):
        self.module = counters_module()

    def compare(self, launch):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder)
            (output / "cases.json").write_text(json.dumps({"cases": [CASE]}))
            (output / "launches.json").write_text(json.dumps([launch]))
            done = subprocess.run(
                [sys.executable, FOLDER / "check_counters.py", "--again", output],
                capture_output=True, text=True)
            return done, json.loads((output / "counters.json").read_text())

    def test_equal_figures_pass(self):
        done, document = self.compare(LAUNCH)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("7 figures of 1 launches compared, 0 differences", done.stdout)
        measured = document["cases"][0]["measured"]
        self.assertTrue(all(row["holds"] for row in measured))
        # The raw counter may be off by one per cent.
        self.assertEqual([row["measured"] for row in measured if row["figure"] == "wavefronts, raw"],
                         [107])

    def test_a_difference_of_one_fails(self):
        launch = json.loads(json.dumps(LAUNCH))
        launch["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld"] = 21
        done, _ = self.compare(launch)
        self.assertEqual(done.returncode, 1)
        self.assertIn("DIFFERS", done.stdout)

    def test_writes_without_a_rule_are_recorded(self):
        # An asynchronous copy in place of the store; the model has a row for A alone.
        launch = json.loads(json.dumps(LAUNCH))
        launch["instructions"][-1]["sass"] = "LDGSTS.E.BYPASS.128.ZFILL [R2], desc[UR4][R4.64], P0"
        launch["instructions"][-1]["inst_executed"] = 1
        done, document = self.compare(launch)
        self.assertEqual(done.returncode, 0, done.stdout)
        written = [row for row in document["cases"][0]["measured"]
                   if row["figure"] == "wavefronts, writes"]
        self.assertEqual(written, [{"figure": "wavefronts, writes", "predicted": None, "measured": 6,
                                    "source": "by instruction, recorded", "holds": True}])

    def test_a_launch_of_which_nothing_is_known_fails(self):
        done, _ = self.compare({"kernel": "", "metrics": {}, "instructions": []})
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was measured", done.stdout)

    def test_opcodes(self):
        self.assertEqual(self.module.opcode("  @!P0 LDS.64 R2, [R3]"), "LDS.64")
        self.assertEqual(self.module.opcode("@UP1 UTMALDG.3D [UR8], [UR4]"), "UTMALDG.3D")


if __name__ == "__main__":
    RUNGS, FOLDER = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()
