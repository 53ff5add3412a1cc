"""The notebook's widget: the Python package's own module, mounted as anywidget does, and under anywidget.

usage: test_widget.py [unittest arguments]; the package is on PYTHONPATH
"""

import importlib.util
import pathlib
import tempfile
import unittest
from urllib.parse import parse_qs

import tilewise
from browser import BrowserTest, serve
from tilewise import _core

# anywidget's contract, as far as a widget sees it: a model with one trait, and an element.
NOTEBOOK = """<!doctype html><html lang="en"><title>notebook</title><link rel="icon" href="data:,">
<style>h1 { color: rgb(1, 2, 3) } button { display: none }</style>
<body><h1>A notebook</h1><div id="one"></div><div id="two"></div><div id="three"></div>
<script type="module">
import widget from './widget.js';
class FakeModel {
  constructor(state) { this.traits = { state }; this.saved = 0; this.listeners = []; }
  get(name) { return this.traits[name]; }
  set(name, value) { if (this.traits[name] !== value) { this.traits[name] = value; this.tell(name); } }
  save_changes() { this.saved++; }
  on(event, listener) { this.listeners.push([event, listener]); }
  off(event, listener) { this.listeners = this.listeners.filter(([e, l]) => e !== event || l !== listener); }
  tell(name) { for (const [event, listener] of this.listeners) if (event === 'change:' + name) listener(); }
}
const show = window.show = async (id, state) => {
  const model = new FakeModel(state);
  return { model, end: await widget.render({ model, el: document.getElementById(id) }) };
};
window.keys = [];
document.addEventListener('keydown', event => { if (!event.defaultPrevented) keys.push(event.key); });
window.widgets = await Promise.all([show('one', 'm=512&n=512&k=256'), show('two', 'm=300&n=200&k=100&theme=dark')]);
document.body.dataset.ready = 'true';
</script>"""


class Widget(BrowserTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "widget.js").write_text(_core.explorer_widget())
        (pathlib.Path(folder.name) / "index.html").write_text(NOTEBOOK)
        cls.site = serve(folder.name)

    def setUp(self):
        super().setUp()
        self.page.goto(self.site)
        self.page.wait_for_selector("body[data-ready=true]")
        self.one, self.two = self.page.locator("#one"), self.page.locator("#two")

    def text(self, widget, name):
        return widget.locator(f"#{name}").inner_text()

    def test_steps_and_keeps_its_state(self):
        self.one.get_by_label("Next phase").click()
        self.one.locator("#tiles-text").click()
        self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press(".")
        self.assertIn("phase 3 of 32", self.text(self.one, "position"))
        self.page.wait_for_function("widgets[0].model.saved > 0 && widgets[0].model.get('state').includes('moment=full')")
        self.assertEqual(parse_qs(self.page.evaluate("widgets[0].model.get('state')"))["phase"], ["2"])
        self.page.evaluate("widgets[0].model.set('state', 'm=512&n=512&k=256&at=1,2&phase=9')")
        self.assertIn("Tile 1, 2 of 4", self.text(self.one, "tiles-text"))
        self.assertIn("phase 10 of 32", self.text(self.one, "position"))

    def test_undo_returns_to_what_it_was_made_with(self):
        start = "m=512&n=512&k=256&schedule=custom&tile=block:32x32x8&tile=thread:4x4x0"
        self.page.evaluate("state => show('three', state)", start)
        three = self.page.locator("#three")
        self.assertIn("A custom schedule: block 32", self.text(three, "schedule-note"))
        three.locator("#tab-schedule").click()
        thread = three.get_by_label("thread m \u00d7 n")
        thread.fill("2x2")
        thread.press("Enter")
        three.get_by_text("Undo all changes").click()
        self.assertEqual(thread.input_value(), "4x4")

    def test_two_do_not_interfere(self):
        before = self.text(self.two, "tiles-text")
        self.one.get_by_label("Next phase").click()
        self.one.locator("label", has_text="Barrier 1").click()
        self.one.get_by_text("Without the first").click()
        self.one.locator("#tiles-text").click()
        self.page.keyboard.press("Shift+ArrowDown")
        self.assertEqual(self.text(self.two, "tiles-text"), before)
        self.assertIn("are right", self.text(self.two, "barrier-text"))
        self.assertIn("are wrong", self.text(self.one, "barrier-text"))
        self.assertTrue(self.two.get_by_label("Load", exact=True).is_checked())
        self.two.locator("#tab-banks").click()
        self.assertTrue(self.one.locator("#scene-tiles").is_visible())
        self.assertFalse(self.two.locator("#scene-tiles").is_visible())
        themes = [w.locator(".tilewise").get_attribute("data-theme") for w in (self.one, self.two)]
        self.assertEqual(themes, ["light", "dark"])

    def test_leaves_the_notebook_alone(self):
        self.assertEqual(self.page.locator("body > h1").evaluate("h => getComputedStyle(h).color"), "rgb(1, 2, 3)")
        self.assertEqual(self.one.locator("h1").evaluate("h => getComputedStyle(h).color"), "rgb(28, 36, 48)")
        self.assertTrue(self.one.get_by_label("Next phase").is_visible())
        self.assertIsNone(self.page.evaluate("document.getElementById('tiles-text')"))
        self.assertEqual(self.page.url, self.site + "/")
        self.page.locator("body > h1").click()
        self.page.keyboard.press("ArrowRight")
        self.assertIn("phase 1 of 32", self.text(self.one, "position"))
        self.assertEqual(self.page.evaluate("keys"), ["ArrowRight"])
        self.assertFalse(self.one.locator("#share").is_visible())

    def test_ends_without_a_trace(self):
        self.one.get_by_label("Play", exact=True).click()
        self.page.evaluate("widgets[0].end()")
        self.assertEqual(self.one.evaluate("el => el.children.length"), 0)
        self.assertEqual(self.page.evaluate("widgets[0].model.listeners.length"), 0)
        self.assertIn("Tile 0, 0", self.text(self.two, "tiles-text"))

    def test_fits_a_narrow_notebook(self):
        self.page.set_viewport_size({"width": 360, "height": 800})
        for scene in ("tiles", "schedule", "order", "banks"):
            self.one.locator(f"#tab-{scene}").click()
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360, scene)
        self.page.set_viewport_size({"width": 1280, "height": 900})
        self.page.evaluate("document.getElementById('one').style.width = '500px'")  # beside a side bar
        self.one.locator("#tab-tiles").click()
        tops = self.one.locator("#scene-tiles .split").first.evaluate("s => [...s.children].map(c => c.getBoundingClientRect().top)")
        self.assertGreater(tops[1], tops[0])


class Anywidget(unittest.TestCase):
    def test_explore_is_a_widget(self):
        if importlib.util.find_spec("anywidget") is None:
            self.skipTest("anywidget is not installed here")
        import anywidget

        widget = tilewise.explore(100, 70, 50, tiles=["16", "4"], scene="banks")
        self.assertIsInstance(widget, anywidget.AnyWidget)
        self.assertIsInstance(widget, tilewise.Explorer)
        sent = widget.get_state()
        self.assertIn("render", sent["_esm"])
        self.assertEqual(sent["state"], widget.state)
        widget.state = "m=8&n=8&k=8"
        self.assertIn("m=8&n=8&k=8", widget.to_html())
        self.assertNotEqual(tilewise.explore(1, 1, 1).state, widget.state)
        self.assertEqual(tilewise.explore()._esm, widget._esm)


if __name__ == "__main__":
    unittest.main()
