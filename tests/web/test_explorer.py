"""The explorer in a headless Chromium: the page as one file and as files, its counters against the
command's, keyboard, sharing, hostile addresses, accessibility.

usage: test_explorer.py TILEWISE [unittest arguments]
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from axe_playwright_python.sync_playwright import Axe

from browser import BrowserTest, serve

TILEWISE = os.path.abspath(sys.argv.pop(1))
CASES = 100


def tilewise(*arguments):
    return subprocess.run([TILEWISE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


@functools.cache
def written_page():
    """The page as one file and as a folder: the folder of both, and the address of the second."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    path = pathlib.Path(folder.name)
    for arguments in ((1000, 700, 520, "--tile", "block:128x128x8", "--tile", "thread:8x8", "-o", path / "page.html"),
                      ("--folder", path / "site")):
        done = tilewise("explore", *arguments)
        assert done.returncode == 0, done.stderr
    return path, serve(path / "site") + "/index.html"


def digits(text):
    return int(text.replace(",", "").removeprefix("\u2265 "))


class ExplorerTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.site = written_page()

    def open(self, state="", url=None):
        self.page.goto(f"{url or self.site}#{state}")
        self.page.wait_for_selector("[data-ready=true]")
        return self.page

    def go(self, state):
        """Another address on the open page, and its scene drawn."""
        self.page.evaluate("""state => new Promise(done => {
            const before = location.href;
            addEventListener('hashchange', () => setTimeout(done), {once: true});
            location.hash = state;
            if (location.href === before) setTimeout(done);  // no event comes
        })""", state)

    def table(self, name):
        """{first cell: the other cells} of a table of the page."""
        rows = self.page.locator(f"#{name} tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
        return {row[0]: row[1:] for row in rows}


class OneFile(ExplorerTest):
    def test_holds_everything_and_asks_nobody(self):
        page = self.open(url=(self.path / "page.html").as_uri())
        self.assertEqual(page.locator("[name=m]").input_value(), "1000")
        self.assertIn("Tile 0, 0 of 8 \u00d7 6", page.inner_text("#tiles-text"))
        self.assertEqual([url for url in self.requests if not url.startswith(("file:", "data:"))], [])
        page.keyboard.press("ArrowRight")
        self.assertIn("phase 2 of 65", page.inner_text("#position"))

    def test_an_address_without_sizes_has_the_page_s_own(self):
        page = self.open("scene=schedule", url=(self.path / "page.html").as_uri())
        self.assertEqual([page.locator(f"[name={name}]").input_value() for name in "mnk"], ["1000", "700", "520"])
        self.assertEqual(page.get_by_label("thread m \u00d7 n").input_value(), "8x8")
        self.go("m=64&tile=block:16x16x4")
        self.assertEqual([page.locator(f"[name={name}]").input_value() for name in "mnk"], ["64", "700", "520"])
        self.assertEqual(page.evaluate("tilewise.state.items.getAll('tile')"), ["block:16x16x4"])

    def test_files_come_from_their_own_server_only(self):
        self.open()
        self.assertTrue(all(url.startswith((self.site.removesuffix("index.html"), "data:")) for url in self.requests))


class Counters(ExplorerTest):
    def random_case(self, generator):
        pick = generator.randint
        m, n, k = pick(1, 90), pick(1, 90), pick(1, 90)
        tm, tn = pick(1, 5), pick(1, 5)
        block = (tm * pick(1, 6), tn * pick(1, 6), pick(1, 16))
        row, column, phase = (generator.randrange(-(-size // width)) for size, width in zip((m, n, k), block))
        return m, n, k, block, (tm, tn), row, column, phase

    def test_equal_the_command(self):
        """A hundred random tilings: totals against `count` and `simulate`, a step against `count` of the
        part that has been done."""
        self.open()
        generator = random.Random(20)
        cases = [self.random_case(generator) for _ in range(CASES)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = pool.map(self.command_answers, cases)
            self.check_cases(cases, answers)

    def command_answers(self, case):
        """What the command prints: the whole product counted and simulated, the part that has been done counted."""
        m, n, k, block, thread, row, column, phase = case
        tiles = ["--tile", "block:%dx%dx%d" % block, "--tile", "thread:%dx%d" % thread, "--json"]
        height, width = min(block[0], m - row * block[0]), min(block[1], n - column * block[1])
        depth = min(k, (phase + 1) * block[2])
        return [json.loads(tilewise(*question, *tiles).stdout)
                for question in (("count", m, n, k), ("simulate", m, n, k), ("count", height, width, depth))]

    def check_cases(self, cases, answers):
        for (m, n, k, block, thread, row, column, phase), (counted, simulated, part) in zip(cases, answers):
            rows, columns, phases = -(-m // block[0]), -(-n // block[1]), -(-k // block[2])
            self.go(f"m={m}&n={n}&k={k}&tile=block:{block[0]}x{block[1]}x{block[2]}"
                    f"&tile=thread:{thread[0]}x{thread[1]}x0&at={row},{column}&phase={phase}&moment=empty")
            self.assertEqual(self.page.inner_text("#message"), "")
            totals = self.table("totals")
            self.assertEqual(digits(totals["naive"][1]), counted["naive"])
            self.assertEqual(digits(totals["minimum"][1]), counted["minimum"])
            self.assertEqual(digits(totals["block \u2190 global"][1]), counted["tiled"])
            self.assertEqual(digits(totals["block \u2190 global"][1]), simulated["global_reads"])
            self.assertEqual(digits(totals["thread \u2190 shared"][1]), simulated["shared_reads"])
            shown = self.page.locator(".meter[data-level] .meter-text").all_inner_texts()
            self.assertEqual([digits(text) for text in shown], [level["reads"] for level in part["levels"]])
            if (row, column, phase) == (rows - 1, columns - 1, phases - 1):
                self.assertEqual(totals["block \u2190 global"][0], totals["block \u2190 global"][1])

    def test_named_schedules(self):
        self.open()
        for name in self.page.evaluate("tilewise.model.names.schedules.map(s => s.name)"):
            self.go(f"m=1000&n=700&k=520&schedule={name}")
            self.assertEqual(self.page.inner_text("#message"), "")
            counted = json.loads(tilewise("count", 1000, 700, 520, "--schedule", name, "--json").stdout)
            shown = [digits(cells[1]) for first, cells in self.table("totals").items() if "\u2190" in first]
            self.assertEqual(shown, [level["reads"] for level in counted["levels"]], name)


class Use(ExplorerTest):
    def test_click_step_scrub_play(self):
        page = self.open("m=512&n=512&k=256")
        canvas = page.locator("#scene-tiles canvas").first
        box = canvas.bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.93)
        self.assertRegex(page.inner_text("#tiles-text"), "^Tile 3, [0-3] of 4 \u00d7 4")
        page.get_by_label("Next phase").click()
        self.assertIn("phase 2 of 32", page.inner_text("#position"))
        page.locator("body").press("ArrowLeft")
        self.assertIn("phase 1 of 32", page.inner_text("#position"))
        page.locator("body").press(".")
        self.assertTrue(page.get_by_label("Barrier 1").is_checked())
        page.locator("#scene-tiles").get_by_label("Phase", exact=True).fill("20")
        self.assertIn("phase 21 of 32", page.inner_text("#position"))
        page.locator("h1").click()
        page.keyboard.press("Shift+ArrowUp")
        self.assertIn("Tile 2,", page.inner_text("#tiles-text"))
        page.keyboard.press(" ")
        page.wait_for_function("!document.querySelector('#position').textContent.includes('phase 21 of')")
        page.keyboard.press(" ")
        self.assertEqual(page.locator(".code .marked").count() > 0, True)

    def test_every_kernel_has_its_lines_marked(self):
        self.open()
        schedules = self.page.evaluate("tilewise.model.names.schedules.filter(s => s.device === 'gpu').map(s => s.name)")
        for name in schedules:
            for moment in ("load", "multiply"):
                self.go(f"schedule={name}&moment={moment}&m=256&n=256&k=256")
                self.assertGreater(self.page.locator(".code .marked").count(), 0, f"{name} {moment}")

    def test_loads_and_fragments_are_marked(self):
        self.open()
        for name, moment, call in (("vector_loads", "load", ".template load<"), ("conflict_free", "load", ".template load<"),
                                   ("conflict_free_swizzle", "load", ".template load<"), ("vector_loads", "multiply", "Fragment<"),
                                   ("conflict_free", "multiply", "Fragment<"), ("mma", "multiply", "load_a(a[then], reader_a"),
                                   ("wmma", "multiply", "a.fill("), ("wmma", "multiply", "b.fill(")):
            self.go(f"schedule={name}&moment={moment}&m=256&n=256&k=256")
            marked = self.page.locator(".code .marked").all_inner_texts()
            self.assertTrue(any(call in line for line in marked), f"{name} {moment} {call}")

    def test_tiles_alike_are_run_once(self):
        """The run without a barrier is one of whole tiles, and one of each cut: moving between them asks nothing."""
        page = self.open("m=1000&n=1000&k=64&schedule=square_tile&without=empty")
        page.evaluate("""() => { window.asked = new Set(); const ask = tilewise.model.ask;
            tilewise.model.ask = function (kind, query) { if (kind === 'barriers') asked.add(query.replace(/.*at=/, '')); return ask.call(this, kind, query); }; }""")
        for at in ("0,0", "3,5", "7,2", "7,5", "2,7", "7,7"):
            self.go(f"m=1000&n=1000&k=64&schedule=square_tile&without=empty&at={at}")
        self.assertEqual(page.evaluate("asked.size"), 4)
        for at in ("0,0", "7,7"):
            self.go(f"m=1000&n=1000&k=64&schedule=mma&type=bf16&at={at}")
        self.assertEqual(page.evaluate("asked.size"), 4, "with both barriers nothing is run")
        self.go("m=1000&n=1000&k=64&schedule=square_tile&without=empty&at=7,2")
        self.assertIn("of 13,312 outputs are wrong", page.inner_text("#barrier-text"))

    def test_barriers_go_wrong(self):
        page = self.open("m=128&n=128&k=128&schedule=shared_tile")
        self.assertIn("are right", page.inner_text("#barrier-text"))
        for choice in ("Without the first", "Without the second"):
            page.get_by_text(choice).click()
            self.assertIn("are wrong", page.inner_text("#barrier-text"))

    def test_barriers_of_one_buffer_and_of_several(self):
        self.open()
        for name in ("square_tile", "mma", "wgmma_pipeline"):  # every one: questions_test.cpp
            for without in ("full", "empty"):
                self.go(f"m=500&n=500&k=500&schedule={name}&without={without}")
                self.assertIn("are wrong", self.page.inner_text("#barrier-text"), f"{name} {without}")
        self.go("m=500&n=500&k=8&schedule=square_tile&without=empty")
        self.assertIn("one phase", self.page.inner_text("#barrier-text"))
        # One warp has all outputs of these tiles; others load rows of B.
        for state, outputs in (("m=7&n=100000&k=99", "896 of 896"), ("m=8&n=128&k=64", "1,024 of 1,024"), ("m=4100&at=32,0", "512 of 512")):
            for without in ("full", "empty"):
                self.go(f"{state}&schedule=square_tile&without={without}")
                self.assertIn(outputs, self.page.inner_text("#barrier-text"), f"{state} {without}")
        self.go("m=1&n=1&k=1&schedule=square_tile&without=full")
        self.assertIn("copies every element that they need", self.page.inner_text("#barrier-text"))

    def test_edit_a_schedule(self):
        page = self.open("scene=schedule")
        before = self.table("level-counts")["block \u2190 global"][1]
        field = page.get_by_label("block m \u00d7 n \u00d7 k")
        field.fill("64 x 64 x 8")
        field.press("Enter")
        page.wait_for_url("**tile=block%3A64x64x8**")
        self.assertEqual(digits(self.table("level-counts")["block \u2190 global"][1]), 2 * digits(before))
        self.assertIn("SM", page.inner_text("#occupancy-text"))
        thread = page.get_by_label("thread m \u00d7 n")
        thread.fill("64x64")
        thread.press("Enter")
        self.assertIn("registers", page.inner_text("#error-tile-thread"))
        thread.fill("banana")
        thread.press("Enter")
        self.assertIn("banana", page.inner_text("#error-tile-thread"))
        page.get_by_text("Undo all changes").click()
        self.assertEqual(self.table("level-counts")["block \u2190 global"][1], before)

    def test_every_field_of_a_schedule_can_be_edited(self):
        page = self.open("scene=schedule&schedule=wgmma_pipeline&type=bf16")
        fields = set(page.evaluate("tilewise.model.names.choices.fields"))
        for field in fields - {"schedule", "name", "note", "device", "tile"}:  # chosen above, or one a level
            self.assertEqual(page.locator(f"#field-{field}").count(), 1, field)

        def change(name, control, value, expected):
            if value in (True, False):
                control.set_checked(value)
            elif control.evaluate("c => c.tagName") == "SELECT":
                control.select_option(value)
            else:
                control.fill(value)
                control.press("Enter")
            self.assertEqual(page.evaluate("name => tilewise.state.get(name)", name), expected)
            self.assertEqual(page.inner_text("#message"), "")

        first = lambda name: page.locator(f"#field-{name}")
        rest = lambda name, i: page.locator(f".field:has(#field-{name}) .controls > *").nth(i)
        change("stages", first("stages"), "3", "3")
        change("copy", first("copy"), "cp_async", "cp_async")
        change("vector", rest("vector", 1), "16", "0,16,0")
        change("layout", first("layout"), "pad", "pad:4")
        change("layout", rest("layout", 1), "2", "pad:2")
        change("layout", first("layout"), "swizzle", "swizzle:128")
        change("layout", first("layout"), "plain", "plain")
        change("order", first("order"), "row", "row")
        change("order", first("order"), "serpentine", "serpentine:8:m")
        change("order", rest("order", 1), "6", "serpentine:6:m")
        change("order", rest("order", 2), "n", "serpentine:6:n")
        change("cluster", rest("cluster", 1), "4", first("cluster").input_value() + "x4")
        change("split", first("split"), "3", "3:second_pass")
        change("split", rest("split", 1), "atomic", "3:atomic")
        change("stream_k", first("stream_k"), True, "1")
        change("persistent", first("persistent"), False, "0")
        change("consumers", first("consumers"), "ping_pong", "ping_pong")
        change("swap_ab", first("swap_ab"), True, "1")
        change("promote", first("promote"), "128", "128")
        change("kernel", first("kernel"), "mma", "mma")
        shown = page.locator("#scene-schedule .fields").evaluate(
            "form => [...form.elements].map(e => e.type === 'checkbox' ? e.checked : e.value)")
        state = page.evaluate("tilewise.state.text()")
        page.goto("about:blank")
        self.open(state)
        self.assertEqual(shown, page.locator("#scene-schedule .fields").evaluate(
            "form => [...form.elements].map(e => e.type === 'checkbox' ? e.checked : e.value)"))

    def test_edit_a_cpu_schedule(self):
        page = self.open("scene=schedule")
        page.locator("#problem [name=schedule]").select_option("packed_avx2_f32")
        self.assertIn("time is not estimated", page.locator("#scene-schedule .results").inner_text())
        self.assertEqual(page.locator(".field-error:visible").count(), 0)
        self.assertFalse(page.locator("#field-tile-block").is_visible())
        before = self.table("level-counts")
        field = page.get_by_label("register mr \u00d7 nr \u00d7 k")
        self.assertRegex(field.input_value(), r"^\d+x\d+x1$")
        field.fill("4x8x1")
        field.press("Enter")
        after = self.table("level-counts")
        self.assertEqual(list(before), list(after))  # the other levels stay
        self.assertGreater(digits(after["register \u2190 l2"][1]), digits(before["register \u2190 l2"][1]))

    def test_an_address_is_the_whole_state(self):
        state = "m=300&n=200&k=100&schedule=double_buffer&at=1,1&phase=4&moment=multiply&without=empty"
        page = self.open(state)
        page.get_by_label("Row of the thread tile").fill("3")
        page.get_by_label("Row of the thread tile").press("Enter")
        texts = [page.inner_text(f"#{name}") for name in ("tiles-text", "inside-text", "barrier-text", "position")]
        page.wait_for_url("**thread=3%2C0**")
        url = page.url
        other = self.context.new_page()
        other.goto(url)
        other.wait_for_selector("[data-ready=true]")
        self.assertEqual(texts, [other.inner_text(f"#{name}") for name in ("tiles-text", "inside-text", "barrier-text", "position")])

    def test_every_scene_is_in_the_address(self):
        """What a control sets is in the address, and the address alone brings it back."""
        page = self.open("m=1000&n=700&k=520&schedule=mma&type=bf16&theme=dark")
        tiles = page.locator("#scene-tiles")
        tiles.get_by_label("Speed").select_option("slow")
        tiles.get_by_label("Instruction").select_option("m16n8k8")
        tiles.get_by_label("Thread", exact=True).fill("7")
        tiles.get_by_label("Next outer product").click()
        tiles.get_by_text("Without the second").click()
        page.locator("#tab-order").click()
        page.get_by_label("Group", exact=True).select_option("4")
        page.get_by_label("Next wave").click()
        page.locator("#tab-banks").click()
        page.locator("#scene-banks select").nth(0).select_option("swizzle:64")
        page.locator("#scene-banks select").nth(1).select_option("column")

        def shown(scene):
            return page.locator(f"#scene-{scene}").inner_text(), page.locator(f"#scene-{scene}").evaluate(
                "scene => [...scene.querySelectorAll('input, select')].map(c => c.type === 'radio' ? c.checked : c.value)")

        before = {}
        for scene in ("tiles", "order", "banks"):
            page.locator(f"#tab-{scene}").click()
            page.wait_for_timeout(60)
            before[scene] = shown(scene)
        page.get_by_role("button", name="Copy link").click()
        address = page.url
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("[data-ready=true]")
        self.assertEqual(page.locator("html").get_attribute("data-theme"), "dark")
        for scene in before:
            page.locator(f"#tab-{scene}").click()
            page.wait_for_timeout(60)
            self.assertEqual(shown(scene), before[scene], scene)

    def test_keyboard_alone(self):
        page = self.open("m=512&n=512&k=256")
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        self.assertIn("Tile 1, 1 of", page.inner_text("#tiles-text"))
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            name = page.evaluate('''() => { const e = document.activeElement;
                return e.ariaLabel ?? e.value ?? e.textContent; }''')
            kind = page.evaluate("document.activeElement.name ?? ''")
            if kind == "without" and "without" not in reached:
                page.keyboard.press("ArrowRight")
                self.assertIn("are wrong", page.inner_text("#barrier-text"))
            if kind == "moment" and "moment" not in reached:
                page.keyboard.press("ArrowRight")
                self.assertTrue(page.get_by_label("Barrier 1").is_checked())
                self.assertIn("phase 1 of", page.inner_text("#position"))
            reached |= {name, kind}
        for wanted in ("Previous phase", "Play", "Next phase", "Phase", "Speed", "Row of the tile of C", "moment",
                       "without", "Kernel source", "Row of the thread tile", "Outer product", "Instruction", "Thread"):
            self.assertIn(wanted, reached)
        page.locator("#tab-tiles").focus()
        page.keyboard.press("ArrowRight")
        self.assertTrue(page.locator("#scene-schedule").is_visible())

    def test_keys_step_where_a_control_has_no_use_for_them(self):
        page = self.open("m=512&n=512&k=256")
        for control in (page.locator("#scene-tiles").get_by_label("Phase", exact=True), page.get_by_label("Load", exact=True),
                        page.locator("#tab-tiles")):
            control.focus()
            page.keyboard.press(".")
            self.assertTrue(page.get_by_label("Barrier 1").is_checked())
            page.keyboard.press(",")
            self.assertTrue(page.get_by_label("Load", exact=True).is_checked())
        page.locator("#scene-tiles").get_by_label("Phase", exact=True).focus()
        page.keyboard.press(" ")
        self.assertEqual(page.get_by_role("button", name="Pause").count(), 1)
        page.keyboard.press(" ")

    def test_layouts_that_a_schedule_needs(self):
        page = self.open()
        for name, dtype in (("wgmma_fp8", "f8e4m3"), ("wgmma_fp8_promoted", "f8e4m3"), ("wgmma_pipeline_tf32", "f32")):
            self.go(f"scene=schedule&schedule={name}&type={dtype}")
            self.assertEqual(page.locator("#problem [name=operands]").input_value(), "nt", name)
            self.assertIn("SM", page.inner_text("#occupancy-text"), name)
            page.locator("#problem [name=operands]").select_option("nn")
            self.assertIn("layout nt", page.inner_text("#schedule-note"), name)
            self.assertEqual(page.locator(".field-error:visible").count(), 0, name)
        self.go("operands=xy")
        self.assertIn("operands is", page.inner_text("#message"))

    def test_an_error_stands_at_the_field_that_it_names(self):
        page = self.open("scene=schedule&schedule=mma&type=bf16")
        field = page.get_by_label("block m \u00d7 n \u00d7 k")
        field.fill("64x64x32")
        field.press("Enter")
        stages = page.locator("#field-stages")
        stages.fill("0")
        stages.press("Enter")
        self.assertIn("stages", page.inner_text("#error-stages"))
        for state in ("m=-5", "type=int", "k=x"):
            self.go(f"scene=schedule&{state}")
            self.assertNotEqual(page.inner_text("#message"), "")
            self.assertEqual(page.locator(".field-error:visible").count(), 0, state)
        self.go("scene=schedule&order=spiral")
        self.assertIn("spiral", page.inner_text("#error-order"))
        for field, text in (("vector", "0,64,0"), ("split", "x"), ("layout", "zigzag"), ("promote", "-1"), ("cluster", "99x1")):
            self.go(f"scene=schedule&{field}={text}")
            self.assertNotEqual(page.inner_text(f"#error-{field}"), "", field)
        self.go("schedule=mma&type=f64")
        self.assertIn("f64", page.inner_text("#schedule-note"))

    def test_an_error_stands_at_the_field_that_was_just_edited(self):
        page = self.page
        for name, text in (("tile-block", "128x128x9999999"), ("tile-block", "96x96x512"), ("tile-block", "512x512x8"),
                           ("tile-cluster", "100x100"), ("cluster", "99")):
            page.goto("about:blank")
            self.open("scene=schedule&schedule=square_tile")
            field = page.locator(f"#field-{name}")
            field.fill(text)
            field.press("Enter")
            self.assertEqual(page.locator(".field-error:visible").evaluate_all("all => all.map(e => e.id)"), [f"error-{name}"], text)

    def test_a_focused_field_follows_the_address(self):
        page = self.open("m=512&n=512&k=256")
        for name, label in (("m", None), ("at", "Row of the tile of C"), ("lane", "Thread")):
            field = page.locator("#scene-tiles").get_by_label(label, exact=True) if label else page.locator("[name=m]")
            field.fill("1")
            self.go(f"m=384&n=512&k=256&{name}={ {'m': '384', 'at': '2,0', 'lane': '3'}[name] }")
            self.assertEqual(field.input_value(), {"m": "384", "at": "2", "lane": "3"}[name])

    def test_names_of_every_object_are_no_moments(self):
        self.open()
        for name in ("__proto__", "constructor", "toString"):
            self.go(f"moment={name}&speed={name}")
            self.assertIn(f'moment is "{name}"', self.page.inner_text("#tiles-text"))
            self.assertNotIn("native code", self.page.inner_text("#scene-tiles"))

    def test_a_step_leaves_what_it_does_not_change(self):
        """A table keeps its scroll, a mark of the roofline its node (so that it moves)."""
        self.page.set_viewport_size({"width": 360, "height": 800})
        page = self.open("m=8192&n=8192&k=8192")
        scroll = "document.querySelector('#totals').parentElement.scrollLeft"
        page.evaluate(f"{scroll} = 60")
        page.keyboard.press("ArrowRight")
        self.assertEqual(page.evaluate(scroll), 60)
        self.go("scene=schedule&schedule=square_tile&m=4096")
        page.evaluate("window.mark = document.querySelector('.roofline .mark'); window.before = mark.getAttribute('style')")
        field = page.get_by_label("block m \u00d7 n \u00d7 k")
        field.fill("32x32x8")
        field.press("Enter")
        self.assertTrue(page.evaluate("mark.isConnected && mark.getAttribute('style') !== before"))

    def test_orders_and_banks(self):
        page = self.open("scene=order&schedule=mma&type=bf16")
        page.get_by_label("Next wave").click()
        self.assertIn("wave 2 of", page.inner_text("#scene-order .position"))
        explained = json.loads(tilewise("explain", 4096, 4096, 4096, "--dtype", "bf16", "--schedule", "mma",
                                        "--machine", "h200", "--json").stdout)
        dram = next(row["counted"] for row in explained["rows"] if row["level"] == "dram" and row["operand"] == "a")
        order = explained["schedule"]["order"]
        name = "row" if order["kind"] == "row" else f"{order['kind']} by {order['group']}"
        self.go(f"scene=order&schedule=mma&type=bf16&group={order['group'] if order['group'] > 1 else 8}")
        shown = self.page.evaluate("name => tilewise.model.ask('order', tilewise.state.query({orders: name})).orders[0].dram_bytes",
                                   order["kind"] + f":{order['group']}")
        self.assertLess(abs(shown - dram), 1)
        self.assertIn(name, self.table("dram-totals"))
        self.go("scene=banks&banks_pattern=column&banks_rows=32&banks_columns=32&banks_bytes=4&banks_layout=plain")
        self.assertEqual(self.table("bank-layouts")["plain"], ["32", "31"])
        self.assertEqual(self.table("bank-layouts")["pad:1"], ["1", "0"])

    def test_fragments(self):
        page = self.open("fragment=m16n8k16&lane=5")
        self.assertIn("Thread 5 holds", page.inner_text("#fragment-text"))
        self.assertIn("C (1, 2) (1, 3) (9, 2) (9, 3)", page.inner_text("#fragment-text"))
        canvas = page.locator(".fragment canvas").first
        canvas.hover(position={"x": 3, "y": 3})
        self.assertIn("Thread 0 holds", page.inner_text("#fragment-text"))
        page.mouse.move(0, 0)
        for text in ("99", "-1", "999999"):
            page.locator("#scene-tiles").get_by_label("Thread", exact=True).fill(text)
            self.assertIn(f'thread is "{text}"; it must be a whole number from 0 to 31.', page.inner_text("#fragment-text"))


class Written(ExplorerTest):
    """A page written with a tiling of its own, a type and a machine."""

    def written(self, state="", arguments=("--tile", "block:64x64x16", "--tile", "thread:8x4")):
        path = self.path / "custom.html"
        done = tilewise("explore", 1000, 700, 520, *arguments, "--machine", "a100", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.open(state, path.as_uri())

    def test_a_custom_schedule_is_its_own(self):
        page = self.written()
        self.assertEqual(page.inner_text("#schedule-note"), "A custom schedule: block 64 \u00d7 64 \u00d7 16, thread 8 \u00d7 4.")
        self.assertEqual(page.locator("#problem [name=schedule]").input_value(), "custom")
        self.assertIn("names no kernel; this one runs it", page.inner_text(".source .explain"))
        self.assertEqual(page.inner_text(".source h2"), "kernels/ladder/05_square_tile.cuh")
        page.locator("#tab-schedule").click()
        undo, thread = page.get_by_text("Undo all changes"), page.get_by_label("thread m \u00d7 n")
        self.assertTrue(undo.is_disabled())
        thread.fill("8x8")
        thread.press("Enter")
        self.assertIn("Changed from what the page was written with", page.inner_text("#schedule-note"))
        undo.click()
        self.assertEqual(thread.input_value(), "8x4")
        page.locator("#problem [name=schedule]").select_option("mma")
        self.assertIn("ldmatrix", page.inner_text("#schedule-note"))
        page.locator("#problem [name=schedule]").select_option("custom")
        self.assertEqual(thread.input_value(), "8x4")
        self.assertTrue(undo.is_disabled())

    def test_a_schedule_that_no_kernel_takes_says_why(self):
        page = self.written(arguments=("--tile", "block:64x64x16", "--tile", "thread:8x6"))
        self.assertTrue(page.locator(".code").is_hidden())
        self.assertIn("none runs it: thread tile is 8 x 6, which does not divide", page.inner_text(".source .explain"))

    def test_an_address_without_type_or_machine_has_the_page_s_own(self):
        page = self.written("m=64", ("--schedule", "mma", "--dtype", "bf16"))
        shown = {name: page.locator(f"#problem [name={name}]").input_value() for name in ("m", "n", "type", "machine", "schedule")}
        self.assertEqual(shown, {"m": "64", "n": "700", "type": "bf16", "machine": "a100", "schedule": "mma"})
        self.go("stages=3")
        self.assertEqual(page.locator("#problem [name=schedule]").input_value(), "mma")
        size = page.locator("#problem [name=m]")
        size.fill("")
        size.press("Enter")
        self.assertEqual(size.input_value(), "1000")


class Refusals(ExplorerTest):
    """What cannot be run is said with its reason, where it was chosen."""

    def note(self, state):
        self.go(f"scene=schedule&{state}")
        return self.page.inner_text("#schedule-note")

    def error_at(self, field):
        return self.page.inner_text(f"#error-{field}")

    def invalid(self):
        return set(self.page.locator("#problem [aria-invalid=true]").evaluate_all("all => all.map(c => c.name)"))

    def test_fields_that_no_kernel_takes(self):
        self.open()
        note = self.note("schedule=square_tile&split=3")
        self.assertIn('cannot run as chosen: split_k is 3 ways, which kernel "square_tile" does not have', note)
        self.assertIn("The counts are of the schedule itself", note)
        self.assertIn("tuned_f32", self.error_at("split"))
        self.note("schedule=square_tile&tile=block:100x100x8&tile=thread:8x8")
        self.assertIn("does not divide the block tile of 100 x 100", self.error_at("tile-thread"))
        self.note("schedule=mma&type=bf16&stages=1")
        self.assertIn("stages (2 or more)", self.error_at("stages"))
        self.assertNotIn("cannot run", self.note("schedule=mma&type=bf16"))

    def test_types_and_sizes(self):
        self.open()
        self.assertIn("does not multiply f64; no GPU kernel does: take another type", self.note("schedule=square_tile&type=f64"))
        self.assertEqual(self.invalid(), {"type"})
        largest = 1 << 40
        self.assertIn("m is 1,099,511,627,776 and k is 1,099,511,627,776, so that A is larger", self.note(f"m={largest}&n=8&k={largest}"))
        self.assertEqual(self.invalid(), {"m", "k"})
        self.assertEqual(self.page.locator(".field-error:visible").count(), 0)
        self.assertIn("sm_80", self.note("schedule=wgmma&type=bf16&machine=a100"))
        self.assertEqual(self.invalid(), {"machine"})
        self.assertIn("row stride of B is 700", self.note("schedule=wgmma&type=bf16&n=700"))
        self.assertEqual(self.invalid(), {"n"})

    def test_a_total_that_is_not_counted_has_its_reason(self):
        self.open("m=100000&n=100000&k=64&tile=block:64x64x8&tile=thread:8x8")
        self.assertIn("not counted", self.table("totals")["naive"][0])
        self.assertIn("C has 2,442,969, and the launch order is walked for at most 262,144", self.page.locator("#scene-tiles .side").first.inner_text())

    def test_parts_of_k_come_one_after_the_other(self):
        side = self.page.locator("#scene-tiles .side").first
        self.open("m=64&n=64&k=64&schedule=custom&tile=block:16x16x8&split=4&at=0,0&phase=3")
        self.assertIn("This is block 17 of 64 in launch order. K is split in 4", side.inner_text())
        self.open("m=64&n=64&k=64&schedule=custom&tile=block:16x16x8&stream_k=1")
        self.assertIn("stream-K deals the steps of all tiles out in equal ranges", side.inner_text())

    def test_a_schedule_without_shared_memory(self):
        page = self.open("schedule=wmma&type=bf16&moment=empty")
        self.assertEqual(page.locator("#shared-memory").inner_text(), "")
        self.assertIn("warp \u2190 global", self.table("totals"))
        self.assertIn("no barrier guards", page.inner_text("#barrier-text"))
        self.assertFalse(page.get_by_text("Without the first").is_visible())
        self.assertFalse(page.get_by_text("Barrier 1", exact=True).is_visible())
        page.locator("body").press(".")
        self.assertIn("phase 2 of", page.inner_text("#position"))
        self.go("schedule=wmma&type=bf16&scene=banks")
        self.assertIn("An example", page.inner_text("#banks-text"))
        self.go("schedule=packed_avx2_f32")
        self.assertIn("A CPU has no shared memory", page.inner_text("#tiles-text"))

    def test_a_shape_without_a_known_layout_leaves_the_choice(self):
        page = self.open("schedule=wmma&type=bf16")
        choice = page.locator("#scene-tiles").get_by_label("Instruction")
        self.assertEqual(choice.input_value(), "m16n16k16")
        choice.select_option("m16n8k16")
        self.assertIn("Thread 0 holds", page.inner_text("#fragment-text"))


class Hostile(ExplorerTest):
    def test_addresses_give_a_message(self):
        self.open()
        for state, word in [("m=-5", "m is"), ("m=1e9", "m is"), ("n=99999999999999999999", "n is"),
                            ("k=<script>alert(1)</script>", "k is"), ("m=1099511627777", "m is"),
                            ("schedule=../../etc/passwd", "schedule"), ("machine=%00", "machine"),
                            ("tile=block:-1x2x3", "tile"), ("tile=block:1x1x1&tile=block:1x1x1", "block"),
                            ("type=int", "type"), ("stages=0", "stages"), ("order=spiral", "order"),
                            ("m=%", "m is"), ("m=" + "9" * 70000, "address")]:
            self.go(state)
            self.assertIn(word, self.page.inner_text("#message"), state[:60])

    def test_extremes_still_answer(self):
        self.open()
        largest = 1 << 40
        for scene in ("tiles", "schedule", "order", "banks"):
            for state in (f"m={largest}&n={largest}&k={largest}", "m=0&n=0&k=0", "m=1&n=1&k=1", "k=0",
                          "tile=none", f"m={largest}&n=1&k=1&schedule=naive", "tile=block:4096x4096x4096",
                          "at=9,9,9", "at=x", "phase=-1", "moment=never", "thread=7", "banks_rows=100000",
                          "fragment=m3n3k3", "schedule=packed_avx2_f32", "wave=99999999999999999999"):
                self.go(f"{state}&scene={scene}")
                self.assertTrue(self.page.locator(f"#scene-{scene}").is_visible() or
                                self.page.inner_text("#message") != "", state)
        self.go("m=64&n=64&k=64")
        self.assertIn("Tile 0, 0", self.page.inner_text("#tiles-text"))

    def test_names_that_every_object_has(self):
        self.open()
        for name in ("constructor", "toString", "__proto__"):
            self.go(f"scene={name}&speed={name}")
            self.assertTrue(self.page.locator("#scene-tiles").is_visible(), name)
            self.assertEqual(self.page.get_by_label("Speed").input_value(), "usual", name)

    def test_a_drawing_outlives_no_answer(self):
        """A scene that is left, or refused, before its drawings were made: nothing is drawn of it."""
        page = self.open("scene=order&schedule=mma&type=bf16")
        for first, then in (("scene=order&schedule=mma&type=bf16", "scene=order&schedule=mma&type=bf16&at=0,0&stages=64"),
                            ("scene=tiles&fragment=m16n8k8", "scene=tiles&fragment=m1n1k1"),
                            ("scene=tiles&tile=block:8x8x8&tile=thread:2x2", "scene=tiles&tile=block:8x8x8")):
            page.evaluate("""states => new Promise(done => {
                for (const state of states) tilewise.state.load(state);
                requestAnimationFrame(() => requestAnimationFrame(done)); })""", [first, then])

    def test_a_place_that_does_not_exist(self):
        """Its message stands, the nearest is shown, and the controls work from there."""
        page = self.open("m=512&n=512&k=256&phase=99999")
        self.assertIn("phase", page.inner_text("#tiles-text"))
        self.assertIn("phase 32 of 32", page.inner_text("#position"))
        page.get_by_label("Previous phase").click()
        self.assertIn("phase 31 of 32", page.inner_text("#position"))
        self.assertRegex(page.inner_text("#tiles-text"), "^Tile 0, 0")
        self.go("m=512&n=512&k=256&at=9999,0")
        self.assertIn("Tile 3, 0 of 4", page.inner_text("#tiles-text"))
        self.assertIn("This one owns", page.inner_text("#inside-text"))
        page.locator("body").press("Shift+ArrowUp")
        self.assertRegex(page.inner_text("#tiles-text"), "^Tile 2, 0")

    def test_a_refused_access_keeps_its_fields(self):
        """On a page that opens with it: what was chosen can be read and put right."""
        page = self.open("scene=banks&m=512&n=512&k=256&banks_at=64&banks_pattern=row")
        self.assertIn("banks_at is 64", page.inner_text("#banks-text"))
        fields = page.locator("#scene-banks")
        self.assertEqual(fields.get_by_label("at", exact=True).input_value(), "64")
        self.assertEqual(fields.get_by_label("rows").input_value(), "8")
        self.assertEqual(page.locator("#scene-banks select").nth(1).input_value(), "row")
        fields.get_by_label("at", exact=True).fill("2")
        fields.get_by_label("at", exact=True).press("Enter")
        self.assertIn("lanes read", page.inner_text("#banks-text"))

    def test_without_a_tile_there_is_nothing_to_step(self):
        page = self.open("m=512&n=512&k=256&phase=3")
        self.go("m=0")
        self.assertIn("no tile", page.inner_text("#tiles-text"))
        self.assertIn("tile", page.locator(".card .at").inner_text())
        self.assertFalse(page.get_by_label("Next phase").is_visible())
        page.locator("body").press("ArrowRight")
        self.go("scene=order&schedule=mma&type=f64")
        self.assertFalse(page.get_by_label("Next wave").is_visible())
        self.go("m=512&n=512&k=256&phase=3")
        self.assertIn("phase 4 of 32", page.inner_text("#position"))

    def test_a_wrong_thread_keeps_its_fields(self):
        page = self.open("m=512&n=512&k=256&thread=99,0")
        row = page.get_by_label("Row of the thread tile")
        self.assertEqual(row.input_value(), "99")
        for text in ("-1", "abc", "2"):
            row.fill(text)
            row.press("Enter")
            self.assertTrue(row.is_visible(), text)
        self.assertIn("This one owns", page.inner_text("#inside-text"))
        page.get_by_label("Next outer product").click()
        self.assertIn("Step 2", page.inner_text("#inside-text"))

    def test_a_large_thread_tile_is_few_rectangles(self):
        page = self.open()
        page.evaluate("""() => { const draw = CanvasRenderingContext2D.prototype.fillRect; window.rectangles = 0;
            CanvasRenderingContext2D.prototype.fillRect = function (...a) { ++rectangles; draw.apply(this, a); }; }""")
        for thread in ("4096x4096", "4096x4096x0/2048x2048"):
            self.go(f"tile=block:4096x4096x8&tile=thread:{thread}")
            page.wait_for_timeout(60)
        self.assertLess(page.evaluate("rectangles"), 200000)


class Numbers(ExplorerTest):
    def test_groups_stand_before_the_point_only(self):
        page = self.open()
        shown = page.evaluate("import('./draw.js').then(d => [0.0501, 1234567, -1234, '12345678901234567890', 5.681817e24]"
                              ".map(x => typeof x === 'string' ? d.digits(x) : d.short(x)))")
        self.assertEqual(shown, ["0.0501", "1,234,567", "-1,234", "12,345,678,901,234,567,890", "5.68e+24"])
        self.assertEqual(page.evaluate("import('./draw.js').then(d => [1, 4096, 1.063e37].map(d.bytesText))"),
                         ["1 byte", "4.096 kB", "1.06e+37 bytes"])
        self.assertEqual(page.evaluate("""import('./message.js').then(m => [m.sentence('explain: the grid has 244140625 blocks'),
            m.sentence('m is "1099511627777"; no'), m.ended('schedule "x": stages is 0'), m.sentence('simulate: a run needs a tile')])"""),
            ["The grid has 244,140,625 blocks.", 'm is "1099511627777"; no.', "stages is 0.", "A run needs a tile."])
        self.go("m=1&n=1&k=1&schedule=naive")
        self.assertIn("row 0 and column 0 of C", page.inner_text("#tiles-text"))
        self.go("m=1&n=1&k=1&tile=block:1x1x1&tile=thread:1x1x0")
        self.assertIn("One thread tile is this whole block", page.inner_text("#inside-text"))
        self.assertIn("At the one step along k it reads 1 element of A", page.inner_text("#inside-text"))
        self.assertIn("the one output of this tile is right.", page.inner_text("#barrier-text"))
        self.go("m=1&n=1&k=1&scene=schedule")
        self.assertIn("1 block over 132 SMs", page.inner_text("#waves-text"))
        self.go("m=1000000000&n=1000000000&k=1000000000")
        self.assertRegex(self.table("totals")["lower bound"][1], r"^\u2265 \d\.\d\de\+\d+$")

    def test_the_last_wave_is_exact(self):
        """More blocks than a double counts: the tail is that of the model's exact number."""
        page = self.open()
        self.go(f"scene=schedule&m=1499999999&n=1499999991&k=8&tile=block:8x8x8&tile=thread:1x1x0")
        waves = page.evaluate("tilewise.model.ask('estimate', tilewise.state.query())")
        self.assertNotIn("error", waves)
        slots = waves["units"] * waves["occupancy"]["blocks_per_sm"]
        tail = int(waves["waves"]["tiles"]) % slots
        self.assertIn(f"The last wave holds {tail:,} of {slots:,} blocks", page.inner_text("#waves-text"))

    def test_every_type_can_be_chosen(self):
        page = self.open()
        offered = page.locator("#problem [name=type] option").all_inner_texts()
        self.assertEqual(set(offered), {"f32", "f64", "bf16", "f16", "f8e4m3", "f8e5m2"})


class Accessible(ExplorerTest):
    def test_axe_finds_nothing_serious(self):
        axe = Axe()
        for theme in ("light", "dark"):
            for scene in ("tiles", "schedule", "order", "banks"):
                self.open(f"scene={scene}&theme={theme}&m=1000&n=700&k=520")
                found = axe.run(self.page).response["violations"]
                serious = [(f["id"], f["nodes"][0]["html"][:120]) for f in found if f["impact"] in ("serious", "critical")]
                self.assertEqual(serious, [], f"{scene} {theme}")

    def test_fits_narrow_and_wide(self):
        for width in (360, 3840):
            self.page.set_viewport_size({"width": width, "height": 800})
            for scene in ("tiles", "schedule", "order", "banks"):
                self.open(f"scene={scene}")
                self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width, scene)

    def test_pictures_grow_with_the_text(self):
        """At 4K texts are larger, those in a canvas too, and a click still finds its tile."""
        self.page.set_viewport_size({"width": 3840, "height": 2160})
        page = self.open("m=512&n=512&k=512")
        self.assertEqual(page.evaluate("getComputedStyle(document.documentElement).fontSize"), "24px")
        box = page.locator("#scene-tiles canvas").first.bounding_box()
        scale = "document.querySelector('#scene-tiles canvas').getContext('2d').getTransform().a"
        self.assertAlmostEqual(page.evaluate(scale), 24 / 15, 3)
        page.mouse.click(box["x"] + box["width"] / 2 + 0.2 * box["height"], box["y"] + box["height"] * 0.93)
        self.assertIn("Tile 3, ", page.inner_text("#tiles-text"))

    def test_the_marked_line_stays_in_view(self):
        page = self.open("moment=multiply")
        seen = '''() => { const pane = document.querySelector('.code').getBoundingClientRect();
            const line = document.querySelector('.code .marked').getBoundingClientRect();
            return line.top >= pane.top && line.bottom <= pane.bottom; }'''
        self.assertTrue(page.evaluate(seen))
        page.set_viewport_size({"width": 3840, "height": 2160})
        page.wait_for_function(seen)

    def test_every_picture_has_a_sentence(self):
        self.open()
        for scene in ("tiles", "schedule", "order", "banks"):
            self.go(f"scene={scene}")
            for canvas in self.page.locator(f"#scene-{scene} canvas:visible").all():
                self.assertTrue(canvas.get_attribute("aria-label"))
            for caption in self.page.locator(f"#scene-{scene} figcaption:visible").all():
                self.assertGreater(len(caption.inner_text()), 20)

    def test_prints_without_controls(self):
        self.open()
        self.page.emulate_media(media="print")
        self.assertFalse(self.page.get_by_label("Next phase").is_visible())
        self.assertTrue(self.page.locator("#totals").is_visible())

    def test_print_keeps_the_first_page_full(self):
        """What may not be broken fits below the header, so that no page has the header alone; controls are texts."""
        width, height = (210 - 28) / 25.4 * 96, (297 - 28) / 25.4 * 96
        self.page.set_viewport_size({"width": int(width), "height": int(height)})
        self.page.emulate_media(media="print")
        for scene in ("tiles", "schedule", "order", "banks"):
            self.open(f"scene={scene}&m=1000&n=700&k=520")
            bottom = self.page.evaluate("""scene => {
                const whole = [...document.querySelectorAll(`#scene-${scene} *`)].find(e => getComputedStyle(e).breakInside === 'avoid');
                return whole.getBoundingClientRect().bottom; }""", scene)
            self.assertLess(bottom, height, scene)
            self.assertEqual(self.page.locator("input[type=range]:visible, button:visible").count(), 0, scene)
        self.assertEqual(self.page.locator("#problem [name=m]").evaluate("e => getComputedStyle(e).borderTopStyle"), "none")

    def test_no_choice_is_cut(self):
        """A select is as wide as what it shows, a number's field as its digits."""
        for width in (360, 1280, 3840):
            self.page.set_viewport_size({"width": width, "height": 900})
            self.open("scene=schedule&schedule=wgmma_pipeline&type=bf16&order=serpentine:8:m")
            cut = self.page.locator("select:visible").evaluate_all("""all => all.filter(s => {
                const text = document.createElement('canvas').getContext('2d'), style = getComputedStyle(s);
                text.font = style.font;
                return text.measureText(s.selectedOptions[0].text).width > s.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            }).map(s => `${s.id} ${s.value}`)""")
            self.assertEqual(cut, [], width)

    def test_texts_of_a_drawing_do_not_overlap(self):
        """What is written into a canvas: boxes of one line do not meet, and end inside it."""
        self.page.add_init_script("""window.written = new Map();
            const draw = CanvasRenderingContext2D.prototype.fillText, clear = CanvasRenderingContext2D.prototype.clearRect;
            CanvasRenderingContext2D.prototype.clearRect = function (...a) { written.set(this.canvas, []); clear.apply(this, a); };
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
              const width = this.measureText(text).width, left = this.textAlign === 'center' ? x - width / 2 : x;
              written.get(this.canvas)?.push({ text, left, right: left + width, y, end: this.canvas.clientWidth / this.getTransform().a * devicePixelRatio });
              draw.call(this, text, x, y); };""")
        states = ("m=100000&n=100000&k=64&tile=block:64x64x8&tile=thread:8x8", "m=7&n=100000&k=99", "m=1000&n=700&k=520",
                  "scene=schedule&schedule=square_tile", "scene=schedule&schedule=square_tile&m=100000&n=100000", "scene=banks",
                  "scene=banks&banks_bytes=16&banks_pattern=column")
        for width in (360, 1280):
            self.page.set_viewport_size({"width": width, "height": 900})
            for state in states:
                self.open(state)
                self.page.reload()
                self.page.wait_for_selector("[data-ready=true]")
                self.page.wait_for_timeout(100)
                bad = self.page.evaluate("""[...written.values()].flatMap(texts => texts.filter((a, i) => a.right > a.end + 1 || texts.some((b, j) =>
                    j > i && Math.abs(a.y - b.y) < 6 && a.left < b.right - 0.5 && b.left < a.right - 0.5)).map(a => a.text))""")
                self.assertEqual(bad, [], f"{state} {width}")

    def test_help_is_of_the_scene(self):
        page = self.open("scene=order")
        self.assertIn("waves", page.inner_text("footer"))
        page.locator("#tab-tiles").click()
        self.assertIn("phases", page.inner_text("footer"))
        self.assertNotIn("waves", page.inner_text("footer"))

    def test_prints_dark_on_white(self):
        self.open("theme=dark")
        dark = self.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        self.page.emulate_media(media="print")
        self.assertNotEqual(self.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"), dark)
        self.assertEqual(self.page.evaluate("getComputedStyle(document.body).color"), "rgb(28, 36, 48)")
        texts = self.page.locator(".code .line:visible")
        self.assertEqual(texts.count(), self.page.locator(".code .marked").count())
        self.page.emulate_media(media="screen")
        self.assertEqual(self.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"), dark)


if __name__ == "__main__":
    unittest.main()
