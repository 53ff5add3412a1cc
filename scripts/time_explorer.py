"""Times the explorer in a headless Chromium: first paint, steps and memory at 8192 x 8192 x 8192 with blocks
of 128 x 128, and prints one JSON document. Nothing is asserted: tests hold counts, not seconds.

usage: build/venv/bin/python scripts/time_explorer.py TILEWISE
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

STATE = "m=8192&n=8192&k=8192&schedule=square_tile&at=20,30"
STEPS = 200

# The work of a step alone: the handler, then the drawing that it asked for, then layout.
TIME_WORK = """async steps => {
  const times = [];
  const frame = window.requestAnimationFrame;
  for (let i = 0; i < steps; i++) {
    const asked = [];
    window.requestAnimationFrame = callback => asked.push(callback);
    const start = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    for (const callback of asked) callback(performance.now());
    document.body.offsetHeight;
    times.push(performance.now() - start);
    window.requestAnimationFrame = frame;
    await new Promise(done => setTimeout(done));
  }
  return times;
}"""


def resident_bytes(process):
    """Resident set of a process and all its children, shared pages counted once each (PSS)."""
    total, todo = 0, [process]
    while todo:
        pid = todo.pop()
        try:
            rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += 1024 * int(rollup.split("Pss:")[1].split()[0])
            todo += map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        except (OSError, IndexError):
            continue
    return total


def busy_ms(session):
    """Processor time of the page's main thread: scripts, style, layout, painting."""
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * metrics["TaskDuration"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    tilewise = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = pathlib.Path(folder) / "page.html"
        subprocess.run([tilewise, "explore", "8192", "8192", "8192", "-o", page_file], check=True)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        paints = []
        for _ in range(5):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(f"{page_file.as_uri()}#{STATE}")
            page.wait_for_selector("[data-ready=true]")
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
            paints.append(page.evaluate("""() => ({
                paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
                ready: performance.getEntriesByName('tilewise-ready')[0].startTime})"""))
            if len(paints) < 5:
                page.context.close()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = busy_ms(session)
        work = page.evaluate(TIME_WORK, STEPS)
        processor = (busy_ms(session) - before) / STEPS
        session.send("HeapProfiler.collectGarbage")
        heap = page.evaluate("performance.memory.usedJSHeapSize")
        module = page.evaluate("tilewise.model.exports.memory.buffer.byteLength")
        browser_session = browser.new_browser_cdp_session()
        processes = browser_session.send("SystemInfo.getProcessInfo")["processInfo"]
        renderers = [resident_bytes(p["id"]) for p in processes if p["type"] == "renderer"]
        print(json.dumps({
            "page_bytes": page_file.stat().st_size,
            "first_contentful_paint_ms": round(statistics.median(p["paint"] for p in paints), 1),
            "ready_ms": round(statistics.median(p["ready"] for p in paints), 1),
            "step_ms": {"median": round(statistics.median(work), 2), "p95": round(percentile(work, 0.95), 2),
                        "worst": round(max(work), 2), "steps": len(work),
                        "processor_mean": round(processor, 2)},
            "js_heap_bytes": heap, "module_memory_bytes": module,
            "renderer_pss_bytes": max(renderers),
        }, indent=2))
        browser.close()


if __name__ == "__main__":
    main()
