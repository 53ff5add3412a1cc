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
    ("simulate 8 8 8 --register-tile 2", "--register-tile needs --tile"),
    ("simulate 8 8 8 --tile 4 --register-tile y", '"y"'),
    ("simulate 8 8 8 --dtype f23", '"f23"'),
    ("simulate 8 8 8 --seed -1", '--seed is "-1"'),
    ("simulate 8 8 8 --seed 1e3", '--seed is "1e3"'),
    ("simulate 8 8 8 --without-barrier 3", '--without-barrier is "3"'),
    ("simulate 99999999 99999999 0", "memory"),
    ("simulate 99999999 9999999 999999", "2^40"),
    ("schedules wgmm", 'did you mean "wgmma"?'),
    ("schedules mma wmma", '"wmma"'),
    ("schedules --device tpu", '"tpu"'),
]

FILES = {
    "bad.json": "{",
    "unknown_field.json": '{"schema": "tilewise.schedule/1", "name": "x", "kernel": "x", "tiles": [],'
                          ' "stagse": 1}',
}


class BadRequests(unittest.TestCase):
    def test_each_is_one_sentence_and_exit_code_2(self):
        self.assertGreaterEqual(len(BAD), 40)
        for line, expected in BAD:
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                for name, text in FILES.items():
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(text)
                arguments = [word if word != "''" else "" for word in line.split(" ")]
                done = subprocess.run([TILEWISE, *arguments], cwd=folder, capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(expected, done.stderr)
                self.assertTrue(done.stderr.startswith("tilewise"), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(sorted(os.listdir(folder)), sorted(FILES))


if __name__ == "__main__":
    unittest.main()
