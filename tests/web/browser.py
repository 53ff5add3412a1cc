"""What the browser tests share: one Chromium for all of them, a file server, a page whose console must
stay silent."""

import functools
import http.server
import threading
import unittest

from playwright.sync_api import sync_playwright


@functools.cache
def chromium():
    """Started by the first test that asks; one process for all."""
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    unittest.addModuleCleanup(playwright.stop)
    unittest.addModuleCleanup(browser.close)
    return browser


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript",
                      ".wasm": "application/wasm"}

    def log_message(self, *arguments):
        pass


def serve(folder):
    """A file server of the folder for as long as the module's tests run; its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    unittest.addModuleCleanup(server.server_close)
    unittest.addModuleCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}"


class BrowserTest(unittest.TestCase):
    """A fresh context and page a test. A warning, an error or an exception on the page fails it."""

    def setUp(self):
        self.context = chromium().new_context(viewport={"width": 1280, "height": 900})
        self.page = self.context.new_page()
        self.faults, self.requests = [], []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def tearDown(self):
        self.context.close()
        self.assertEqual(self.faults, [])
