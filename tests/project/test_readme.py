"""The commands that README.md and docs/ show work as they are written.

Every fenced block that begins with ```sh and follows a line <!-- run --> is given to bash, from the
repository's root, with the build folder's tilewise where the text says build/release/tilewise.

usage: test_readme.py ROOT TILEWISE
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^<!-- run -->\n+```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    root, tilewise = pathlib.Path(sys.argv[1]), sys.argv[2]
    texts = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    blocks = [(path, block) for path in texts for block in BLOCK.findall(path.read_text())]
    failed = 0
    for path, block in blocks:
        script = block.replace("build/release/tilewise", tilewise)
        print(f"{path.relative_to(root)}:\n{script}", flush=True)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=root)
        if done.returncode != 0:
            print(f"FAILED with {done.returncode}")
            failed += 1
    print(f"{len(blocks)} blocks, {failed} failed")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
