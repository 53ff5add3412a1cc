"""Screenshots of the explorer in a headless Chromium: those of docs/explorer/, or with --all every scene at
three widths, light and dark, and on paper, to be looked at.

usage: build/venv/bin/python scripts/draw_explorer.py TILEWISE FOLDER [--all]
"""

import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

SCENES = {
    "tiles": "m=1000&n=700&k=520&at=3,4&phase=20&moment=multiply&without=empty",
    "schedule": "m=4096&n=4096&k=4096&type=bf16&schedule=wgmma_pipeline",
    "order": "m=4096&n=4096&k=4096&type=bf16&schedule=mma&wave=1",
    "banks": "m=1000&n=700&k=520&banks_pattern=column&banks_layout=swizzle:128&banks_rows=32&banks_columns=32&banks_bytes=16",
}
WIDTHS = {"narrow": (360, 800), "usual": (1280, 900), "4k": (3840, 2160)}
DOCS = (1180, 1000)


def main():
    tilewise, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        page_file = pathlib.Path(temporary) / "page.html"
        subprocess.run([tilewise, "explore", "-o", page_file], check=True)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])

        def draw(name, scene, size, theme="light", media=None, full=True):
            page = browser.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
            page.goto(f"{page_file.as_uri()}#{SCENES[scene]}&scene={scene}&theme={theme}")
            page.wait_for_selector("[data-ready=true]")
            page.wait_for_timeout(400)
            if media == "print":
                (folder / f"{name}.pdf").write_bytes(page.pdf(format="A4"))
            else:
                page.screenshot(path=folder / f"{name}.png", full_page=full)
            page.context.close()

        for scene in SCENES:
            if "--all" not in sys.argv:
                draw(scene, scene, DOCS, full=scene != "tiles")
                continue
            for width, size in WIDTHS.items():
                for theme in ("light", "dark"):
                    draw(f"{scene}-{width}-{theme}", scene, size, theme)
            draw(f"{scene}-print", scene, WIDTHS["usual"], "dark", "print")
        browser.close()


if __name__ == "__main__":
    main()
