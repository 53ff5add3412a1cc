"""Bad command lines: each ends with 2, one sentence on stderr that names the argument, and nothing on
stdout; nothing is written.

usage: test_bad_requests.py TILEWISE
"""

import os
import subprocess
import sys
import tempfile
import unittest

TILEWISE = os.path.abspath(sys.argv.pop(1))

# (command line, what the sentence must hold). The words are split at spaces; '' is an empty argument.
BAD = [
    ("cuont 1 2 3", '"cuont"; did you mean "count"?'),
    ("'' 1", '""'),
    ("--verbose", '"--verbose"'),
    ("count", "M N K"),
    ("count 1 2", "2 of the three sizes"),
    ("count 1 2 3 4", "4 of the three sizes"),
    ("count -1 2 3", '"-1"'),
    ("count 1 -2 3", '"-2"'),
    ("count 9e99 2 3", 'M is "9e99"'),
    ("count 1 0x10 3", 'N is "0x10"'),
    ("count 1 2 ''", 'K is ""'),
    ("count 1 2 3.0", 'K is "3.0"'),
    ("count 1 2 +3", 'K is "+3"'),
    ("count 1 2 9223372036854775808", 'K is "9223372036854775808"'),
    ("count nan 2 3", 'M is "nan"'),
    ("count 1 2 3 --tile", "--tile needs a value"),
    ("count 1 2 3 --tile ''", "--tile"),
    ("count 1 2 3 --tile x", '"x"'),
    ("count 1 2 3 --tile -4", "--tile"),
    ("count 1 2 3 --tile 4x", '"4x"'),
    ("count 1 2 3 --tile 1x2x3x4", '"1x2x3x4"'),
    ("count 1 2 3 --tile 99999999999999999999", '"99999999999999999999"'),
    ("count 1 2 3 --tile wrap:3", '"wrap"; did you mean "warp"?'),
    ("count 1 2 3 --tile :3", "--tile"),
    ("count 1 2 3 --tile block:", "--tile"),
    ("count 1 2 3 --tile 0", "tiles no dimension"),
    ("count 1 2 3 --tile thread:0x0", "tiles no dimension"),
    ("count 1 2 3 --tile 3 --tile 2 --tile 1", '"1"'),
    ("count 1 2 3 --tile block:3 --tile block:2", "block"),
    ("count 1 2 3 --tile block:3 --tile mc:2", "mc"),
    ("count 1 2 3 --tlie 3", '"--tlie"; did you mean "--tile"?'),
    ("count 1 2 3 --element-bytes 3", "--element-bytes is 3"),
    ("count 1 2 3 --element-bytes four", '--element-bytes is "four"'),
    ("count 1 2 3 --element-bytes 2 --element-bytes 4", "--element-bytes is given more than once"),
    ("count 1 2 3 --schedule sqare_tile", 'did you mean "square_tile"?'),
    ("count 1 2 3 --schedule ''", "--schedule"),
    ("count 1 2 3 --schedule absent.json", '"absent.json"'),
    ("count 1 2 3 --schedule ./", "directory"),
    ("count 1 2 3 --schedule mma --tile 3", "--schedule and --tile"),
    ("count 1 2 3 --schedule bad.json", "not valid JSON"),
    ("count 1 2 3 --schedule unknown_field.json", '"stagse"; did you mean "stages"?'),
    ("count 1 2 3 --json=maybe", '"maybe"'),
    ("count 1 2 3 --seed 1", '"--seed"'),
    ("run", "0 arguments"),
    ("run a.npy", "1 argument is given"),
    ("run 1 2 3 4", "4 arguments"),
    ("run 64 64", '"64"'),
    ("run 1 2 x", 'K is "x"'),
    ("run -1 2 3", '"-1"'),
    ("run 9e99 2 3", 'M is "9e99"'),
    ("run absent.npy b.npy", 'A: "absent.npy"'),
    ("run a.npy absent.npy", 'B: "absent.npy"'),
    ("run . b.npy", "directory"),
    ("run a.npy bad.json", "not a .npy file"),
    ("run a.npy cut.npy", "needs 96 bytes"),
    ("run a.npy a.npy", "A has 3 columns and B 2 rows"),
    ("run a.npy b.npy --transpose-a", "(transposed)"),
    ("run a.npy d.npy", "A is f32 and B is f64"),
    ("run - -", "standard input"),
    ("run a.npy b.npy -o out/c.npy", '"out/c.npy"'),
    ("run a.npy b.npy -o .", "directory"),
    ("run a.npy b.npy -o ''", "-o"),
    ("run a.npy b.npy -o a.npy/c.npy", '"a.npy/c.npy"'),
    ("run 8 8 8 --dtype f31", 'did you mean "f32"?'),
    ("run 8 8 8 --threads 0", '--threads is "0"'),
    ("run 8 8 8 --threads many", '--threads is "many"'),
    ("run 8 8 8 --seed 0x1", '--seed is "0x1"'),
    ("run 8 8 8 --verify smaple", 'did you mean "sample"?'),
    ("run 8 8 8 --target avx3", "avx3"),
    ("run 8 8 8 --schedule packed_avx3_f32", "did you mean"),
    ("run 8 8 8 --activation rleu", 'did you mean "relu"?'),
    ("run 8 8 8 --bias absent.npy", "--bias"),
    ("run a.npy b.npy --bias a.npy", "bias[n] needs 1 x 4"),
    ("run a.npy b.npy --epilogue acc+", "--epilogue"),
    ("run a.npy b.npy --epilogue acc+x[n]", "--bind x=FILE"),
    ("run a.npy b.npy --epilogue acc+x[n] --bind y=a.npy", '"y"'),
    ("run a.npy b.npy --epilogue acc+x[n] --bind x", '"x"'),
    ("run a.npy b.npy --epilogue acc --bias a.npy", "--epilogue excludes"),
    ("run a.npy b.npy --bind x=a.npy", "--bind needs --epilogue"),
    ("run a.npy b.npy --tlie 3", '"--tlie"'),
    ("run 99999999 99999999 8", "memory"),
    ("run 4000000000 4000000000 4000000000", "63 bits"),
    ("simulate 8 8 8 --register-tile 2", "--register-tile needs --tile"),
    ("simulate 8 8 8 --tile 4 --register-tile y", '"y"'),
    ("simulate 8 8 8 --dtype f23", '"f23"'),
    ("simulate 8 8 8 --seed -1", '--seed is "-1"'),
    ("simulate 8 8 8 --seed 1e3", '--seed is "1e3"'),
    ("simulate 8 8 8 --without-barrier 3", '--without-barrier is "3"'),
    ("simulate 8 8 8 --schedule double_buffer --without-barrier 2", "3 stages"),
    ("simulate 8 8 8 --schedule naive --without-barrier 2", "block tile"),
    ("simulate 99999999 99999999 0", "memory"),
    ("simulate 99999999 9999999 999999", "2^40"),
    ("schedules wgmm", 'did you mean "wgmma"?'),
    ("schedules mma wmma", '"wmma"'),
    ("schedules --device tpu", '"tpu"'),
    ("schedules mma --device gpu", "--device chooses among all"),
]



def npy(code, rows, columns, data_bytes):
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            + bytes(data_bytes))


FILES = {
    "a.npy": npy("<f4", 2, 3, 24),
    "b.npy": npy("<f4", 3, 4, 48),
    "d.npy": npy("<f8", 3, 4, 96),
    "cut.npy": npy("<f8", 3, 4, 95),
    "bad.json": b"{",
    "unknown_field.json": b'{"schema": "tilewise.schedule/1", "name": "x", "kernel": "x", "tiles": [],'
                          b' "stagse": 1}',
}


class BadRequests(unittest.TestCase):
    def test_each_is_one_sentence_and_exit_code_2(self):
        self.assertGreaterEqual(len(BAD), 40)
        for line, expected in BAD:
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                for name, text in FILES.items():
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(text)
                arguments = [word if word != "''" else "" for word in line.split(" ")]
                done = subprocess.run([TILEWISE, *arguments], cwd=folder, capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(expected, done.stderr)
                self.assertTrue(done.stderr.startswith("tilewise"), done.stderr)
                # An expression's error shows the place on two more lines.
                lines = 3 if line.endswith("--epilogue acc+") else 1
                self.assertEqual(done.stderr.count("\n"), lines, done.stderr)
                self.assertEqual(sorted(os.listdir(folder)), sorted(FILES))


if __name__ == "__main__":
    unittest.main()
