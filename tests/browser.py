"""A Chromium for the tests of the explorer, driven by Playwright. Without one they skip, and fail
where CI is set.
"""

import csv
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FRONT = ROOT / "lab" / "explorer" / "front"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def chromium() -> str | None:
    """The browser of this machine, by its usual names."""
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )


@contextmanager
def browser():
    """A running Chromium; skips where the machine has none, unless CI is set, where that is a
    failure.
    """
    if chromium() is None:
        words = (
            "no chromium, chromium-browser or google-chrome on this machine: apt-get install"
            " chromium"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(words)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium(), args=SWITCHES)
        yield running
        running.close()


class _Heard:
    """A tab in a context of its own, and what its pages say and ask for."""

    def __init__(self, chromium, options) -> None:
        self.context = chromium.new_context(
            **({"viewport": {"width": 1300, "height": 1000}} | options)
        )
        self.said, self.asked = [], []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(10_000)
        self.tab.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))

    def check(self, allowed: str) -> None:
        """Fails if a page erred, warned, or asked for anything but addresses that start with
        `allowed`.
        """
        faults = [
            words
            for words in self.said
            if (words.startswith(("error", "warning")) or not re.match(r"\w+: ", words))
            # JupyterLab's own, on a busy machine: Plugin ... took 5012ms to activate.
            and not re.match(r"warning: Plugin \S+ .*to activate\.$", words)
        ]
        assert not faults, faults
        elsewhere = [url for url in self.asked if not url.startswith((allowed, *NOWHERE))]
        assert not elsewhere, elsewhere
        self.said.clear()
        self.asked.clear()


NOWHERE = ("data:", "blob:", "about:blank")


@contextmanager
def quiet(chromium, allowed: str, **options):
    """A tab of its own; fails if the page errs, warns, or asks for anything but addresses that
    start with `allowed`.
    """
    heard = _Heard(chromium, options)
    yield heard.tab
    heard.context.close()
    heard.check(allowed)


class Tabs:
    """Quiet tabs that are used again: a new one takes a process of its own, and as long as the page
    in it. For pages that keep nothing in the browser; scripts that a test adds to a tab stay in it.
    """

    def __init__(self, chromium) -> None:
        self.chromium, self.free = chromium, {}

    @contextmanager
    def quiet(self, allowed: str, *, stays: bool = False, **options):
        """As `quiet`; the tab shows about:blank, or, where it `stays`, what the last one to ask for
        the same left in it. A tab whose test failed is not used again.
        """
        key = json.dumps([allowed, stays, options], sort_keys=True)
        heard = self.free.pop(key, None) or _Heard(self.chromium, options)
        yield heard.tab
        if not stays:
            heard.tab.mouse.move(-1, -1)  # else what lies there next is under the pointer
            heard.tab.goto("about:blank")
        heard.check(allowed)
        self.free[key] = heard


def turn(tab, hash: str) -> None:
    """Lead the explorer's page on the screen to another hash, as a link in it does."""
    tab.evaluate(
        """(hash) => {
          document.activeElement?.blur();
          history.replaceState(null, '', hash);
          dispatchEvent(new Event('hashchange'));
        }""",
        hash,
    )


def saved(tab, kind: str) -> Path:
    """The file behind one of the Save buttons of the panel on the screen."""
    with tab.expect_download() as found:
        tab.locator(".saver:visible").get_by_role("button", name=kind).click()
    return Path(found.value.path())


def columns(tab) -> dict[str, np.ndarray]:
    """What the CSV button saves, by column; empty cells are left out."""
    rows = list(csv.reader(saved(tab, "CSV").read_text().splitlines()))
    return {
        name: np.array([float(x) for x in column if x]) for name, *column in zip(*rows, strict=True)
    }


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


SETTINGS = {  # cells out of sight are not taken out
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


@contextmanager
def jupyterlab(root: Path, **env: str):
    """JupyterLab on 127.0.0.1 that knows nothing of its user; its address, and the folder of its
    notebooks. `env` are further environment variables.
    """
    own, books = root / "own", root / "books"
    for name, content in SETTINGS.items():
        path = own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    books.mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--ip=127.0.0.1", f"--port={port}", "--allow-root", "--no-browser"]
    words += [
        "--expose-app-in-browser",
        "--IdentityProvider.token=",
        "--ServerApp.disable_check_xsrf=True",
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(own / "config"),
        "JUPYTER_DATA_DIR": str(own / "data"),
        "JUPYTER_RUNTIME_DIR": str(own / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(own / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(own / "workspaces"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}",
        **env,
    }
    command = [sys.executable, "-m", "jupyterlab", *words, f"--ServerApp.root_dir={books}"]
    with open(root / "log.txt", "wb") as log:
        server = subprocess.Popen(command, cwd=root, stdout=log, stderr=log, env=environment)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
                break
            except OSError:
                said = (root / "log.txt").read_text()[-2000:]
                assert server.poll() is None and time.monotonic() < deadline, said
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/", books
    finally:
        server.terminate()
        server.wait(20)


KERNEL = "window.jupyterapp?.shell?.currentWidget?.context?.sessionContext?.session?.kernel"


def run_notebook(tab, address: str) -> None:
    """Open a notebook, run every cell, and wait until the explorer in it shows the lab's own
    numbers.
    """
    tab.goto(address)
    tab.wait_for_function(KERNEL, timeout=60_000)
    tab.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    tab.wait_for_selector(".badge:has-text('computed by lab')", timeout=60_000)
