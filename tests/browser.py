"""A Chromium for the tests of the explorer, driven by Playwright. Without one they skip, and fail where CI is set."""

import http.server
import os
import shutil
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

FRONT = Path(__file__).parents[1] / "lab" / "explorer" / "front"
SWITCHES = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
            "--disable-component-update --disable-sync").split()


def chromium() -> str | None:
    """The browser of this machine, by its usual names."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser():
    """A running Chromium; skips where the machine has none, unless CI is set, where that is a failure."""
    if chromium() is None:
        words = "no chromium, chromium-browser or google-chrome on this machine: apt-get install chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(words)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium(), args=SWITCHES)
        yield running
        running.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@contextmanager
def served(folder: Path):
    """The address of `folder` served on 127.0.0.1: modules are not loaded from disk."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()
