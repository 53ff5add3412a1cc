"""Doctests, types and examples: what the documents promise."""

import doctest
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import tilewise

ROOT = pathlib.Path(os.environ.get("TILEWISE_ROOT", pathlib.Path(__file__).parents[2]))
MODULES = ["tilewise", "tilewise._model", "tilewise._measure", "tilewise._tables", "tilewise.exercises"]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0 and result.attempted > 0


def test_doctest_of_matmul():
    examples = doctest.DocTestParser().get_doctest(tilewise.matmul.__doc__, {}, "matmul", None, 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
    assert tilewise.matmul.__text_signature__.startswith("($module, a, b, *, out=None")


def test_the_readme():
    result = doctest.testfile(str(ROOT / "python" / "README.md"), module_relative=False)
    assert result.failed == 0 and result.attempted > 5


def test_mypy():
    pytest.importorskip("mypy", reason="mypy is not installed")
    package = pathlib.Path(tilewise.__file__).parent
    # Without tilewise.torch and nn: PyTorch's own types differ from one release to the next.
    files = sorted(p for p in package.rglob("*.py*") if p.suffix in (".py", ".pyi")
                   and p.name not in ("torch.py", "nn.py"))
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases", "--cache-dir",
                           os.devnull, *map(str, files)], capture_output=True, text=True, cwd=package.parent,
                          env={**os.environ, "MYPYPATH": str(package.parent)})
    assert done.returncode == 0, done.stdout


def test_the_stub_names_what_is_there():
    stub = (pathlib.Path(tilewise.__file__).parent / "_core.pyi").read_text()
    named = set(re.findall(r"^def (\w+)", stub, re.M))
    there = {name for name in dir(tilewise._core) if not name.startswith("_")}
    assert named == there


EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path):
    if "torch" in path.stem:
        pytest.importorskip("torch", reason="PyTorch is not installed")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "python" / "examples").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks(path):
    """Every code cell in order; what a cell ends with is shown as HTML, as a notebook would."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    names = {"__name__": "notebook"}
    for cell in cells:
        *lines, last = "".join(cell["source"]).rstrip().split("\n")
        exec("\n".join(lines), names)
        try:
            value = eval(last, names)
        except SyntaxError:
            exec(last, names)
        else:
            if hasattr(value, "_repr_html_"):
                assert "<" in value._repr_html_()
    assert cells
