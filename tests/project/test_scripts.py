"""The words of make and the package script do what CONTRIBUTING.md says, without installing anything.

usage: test_scripts.py ROOT
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
import coverage  # noqa: E402: scripts/coverage.py

WORDS = ["build", "run", "test", "bench", "docs", "kernels", "explore", "format", "check", "clean"]
# What the package script itself needs; everything else is missing from the PATH that it is given.
TOOLS = ["bash", "cksum", "dirname", "env", "mkdir"]

RECORDING_APT = """#!/bin/bash
echo "$DEBIAN_FRONTEND $*" >>"$RECORD"
"""


def make(*words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", *words], cwd=ROOT, env=environment, capture_output=True, text=True)


class Words(unittest.TestCase):
    def test_make_alone_lists_the_words(self):
        listed = make()
        self.assertEqual(listed.returncode, 0)
        lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
        for word in WORDS:
            self.assertEqual([len(text) > 5 for first, text in lines if first == word], [True], word)

    def test_a_word_that_is_not_there_yet_says_so_and_fails(self):
        for line in make().stdout.splitlines():
            word, text = line.split(None, 1)
            if text.startswith("not there yet"):
                done = make(word)
                self.assertNotEqual(done.returncode, 0, word)
                self.assertIn("yet", done.stderr, word)

    def test_ci_calls_make_test(self):
        text = (ROOT / ".ci" / "run").read_text()
        self.assertIn("\nexec make test\n", text)
        self.assertTrue(os.access(ROOT / ".ci" / "run", os.X_OK))


class OpenPage(unittest.TestCase):
    def opened(self, display, browser):
        """Where xdg-open is a script with this text (or is not there); what was said, and what was opened."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for tool in ["bash", "realpath"]:
                (path / tool).symlink_to(shutil.which(tool))
            if browser:
                (path / "xdg-open").write_text(f'#!{path}/bash\necho "$1" >{path}/opened\n{browser}\n')
                (path / "xdg-open").chmod(0o755)
            (path / "page.html").touch()
            done = subprocess.run([ROOT / "scripts" / "open_page.sh", "page.html"], cwd=path, text=True,
                                  env={"PATH": folder, "DISPLAY": display}, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, (path / "opened").exists()

    def test_opens_where_there_is_a_desktop_and_else_says_where_the_page_is(self):
        self.assertEqual(self.opened(":0", "exit 0"), ("", True))
        for display, browser, tried in ((":0", "exit 3", True), (":0", "", False), ("", "exit 0", False)):
            said, opened = self.opened(display, browser)
            self.assertRegex(said, "^The page is page.html: open it in a browser .file:///.*/page.html")
            self.assertEqual(opened, tried)


class Coverage(unittest.TestCase):
    def test_a_line_counts_once_and_is_covered_if_it_ran_anywhere(self):
        def document(folder, *files):
            return {"current_working_directory": str(folder),
                    "files": [{"file": name, "lines": [{"line_number": number, "count": count}
                                                       for number, count in lines.items()]}
                              for name, lines in files]}
        root = pathlib.Path("/project")
        files = coverage.covered_lines(
            [document(root / "build", ("../src/model/a.cpp", {1: 5, 2: 0}), ("../src/model/a.h", {7: 0})),
             document(root / "build", ("../src/model/a.h", {7: 2, 9: 0}),
                      ("/usr/include/vector", {1: 1}), ("../tests/a_test.cpp", {1: 1}))], root)
        folders = coverage.by_folder(files)
        self.assertEqual(folders, {"src/model": [4, 2]})
        self.assertIn("all              4        2    50.0", coverage.table(folders))


class InstallPackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        (self.root / "bin").mkdir()
        shutil.copy(ROOT / "scripts" / "install_packages.sh", self.root / "scripts")
        for tool in TOOLS:
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        self.record = self.root / "record"

    def add_apt(self, name):
        program = self.root / "bin" / name
        program.write_text(RECORDING_APT)
        program.chmod(0o755)

    def install(self, package_set="run"):
        return subprocess.run(
            ["bash", self.root / "scripts" / "install_packages.sh", package_set],
            env={"PATH": str(self.root / "bin"), "RECORD": str(self.record)},
            capture_output=True, text=True,
        )

    def test_without_a_known_package_manager_it_names_the_packages_and_fails(self):
        done = self.install()
        self.assertEqual(done.returncode, 1)
        for package in ("g++", "cmake", "ninja-build"):
            self.assertIn(f"  {package}\n", done.stderr)
        self.assertFalse((self.root / "build").exists())

    @unittest.skipIf(os.geteuid() != 0, "only root installs without sudo")
    def test_it_installs_what_is_missing_once_and_asks_nothing(self):
        self.add_apt("apt-get")
        self.assertEqual(self.install().returncode, 0)
        update, install = self.record.read_text().splitlines()
        self.assertIn("noninteractive", install)
        self.assertIn("-y", install)
        self.assertIn(" ninja-build", install)
        self.assertIn("update", update)
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(len(self.record.read_text().splitlines()), 2, "the stamp was not used")

    def test_an_unknown_set_is_an_error(self):
        done = self.install("all")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'all'; valid are run, explore, test, check, bench", done.stderr)


if __name__ == "__main__":
    unittest.main()
