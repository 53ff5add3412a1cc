"""explore: one file, a folder, refusals. What the page does is tested in tests/web.

usage: test_explore.py TILEWISE [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TILEWISE = os.path.abspath(sys.argv.pop(1))


def tilewise(*arguments):
    return subprocess.run([TILEWISE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


WITHOUT_MODULE = tilewise("explore", "-o", "-").returncode == 3


class Explore(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def refused(self, *arguments):
        done = tilewise("explore", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def test_bad_requests_write_nothing(self):
        page = self.path / "page.html"
        self.assertIn("-o FILE", self.refused(1, 2, 3))
        self.assertIn("-o FILE", self.refused("-o", page, "--folder", self.path / "site"))
        self.assertIn("N", self.refused(1, "x", 3, "-o", page))
        self.assertIn("square_tile", self.refused("--schedule", "sqare_tile", "-o", page))
        self.assertIn("h200", self.refused("--machine", "h20", "-o", page))
        self.assertIn("type", self.refused("--dtype", "int", "-o", page))
        self.assertIn("1099511627776", self.refused(1 << 41, 1, 1, "-o", page))
        self.assertFalse(page.exists())

    def test_without_the_module_it_says_so(self):
        if not WITHOUT_MODULE:
            return
        done = tilewise("explore", "-o", self.path / "page.html")
        self.assertEqual(done.returncode, 3)
        self.assertIn("make explore", done.stderr)
        self.assertFalse((self.path / "page.html").exists())

    def test_one_file_holds_everything(self):
        if WITHOUT_MODULE:
            return
        done = tilewise("explore", 100, 70, 50, "--tile", "16", "-o", self.path / "page.html")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        text = (self.path / "page.html").read_text()
        self.assertEqual(text, tilewise("explore", 100, 70, 50, "--tile", "16", "-o", "-").stdout)
        self.assertNotIn('src="', text)
        self.assertNotIn("href=\"style", text)
        data = text.split('id="data">')[1].split("</script>")[0]
        start = json.loads(data)["start"]
        self.assertIn("m=100&n=70&k=50", start)
        self.assertIn("tile=block:16x16x16", start)

    def test_a_folder_has_the_same_page(self):
        if WITHOUT_MODULE:
            return
        done = tilewise("explore", "--schedule", "mma", "--folder", self.path / "site")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {path.name for path in (self.path / "site").iterdir()}
        self.assertLessEqual({"index.html", "main.js", "style.css", "module.wasm", "data.json"}, names)
        self.assertEqual((self.path / "site" / "module.wasm").read_bytes()[:4], b"\0asm")
        self.assertIn("schedule=mma", json.loads((self.path / "site" / "data.json").read_text())["start"])


if __name__ == "__main__":
    unittest.main()
