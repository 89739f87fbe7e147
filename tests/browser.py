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
# Of features the last switch counts, so what matters of what Playwright turns off stands again. The
# popups of the address bar are pages, which each tab of a test's would open with its window.
SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-features=PaintHolding,HttpsUpgrades,"
    "MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,WebUIOmniboxPopup,"
    "WebUIOmniboxAimPopup"
).split()


@contextmanager
def browser():
    """A running Chromium; skips where the machine has none, and fails there where CI is set."""
    names = "chromium", "chromium-browser", "google-chrome"
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        words = f"none of {', '.join(names)} on this machine: apt-get install chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(words)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=SWITCHES)
        yield running
        running.close()


NOWHERE = ("data:", "blob:", "about:blank")


@contextmanager
def quiet(chromium, allowed: str, **options):
    """A tab in a context of its own; fails if the page errs, warns, or asks for anything but
    addresses that start with `allowed`.
    """
    context = chromium.new_context(**({"viewport": {"width": 1300, "height": 1000}} | options))
    said, asked = [], []
    context.on("request", lambda request: asked.append(request.url))
    tab = context.new_page()
    tab.set_default_timeout(60_000)  # beside other tests a page may wait long for a processor
    tab.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: said.append(f"error: {error}"))
    yield tab
    context.close()
    # JupyterLab's own, on a busy machine: Plugin ... took 5012ms to activate.
    slow = re.compile(r"warning: Plugin \S+ .*to activate\.$")
    faults = [words for words in said if words.startswith(("error", "warning"))]
    assert [words for words in faults if not slow.match(words)] == []
    assert [url for url in asked if not url.startswith((allowed, *NOWHERE))] == []


def until(fact, seconds: float = 60) -> None:
    """Wait for `fact()`, asked from here: the page's own policy forbids the evaluation of text."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


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


def close(found, ours, tolerance=1e-9) -> None:
    """Equal to `tolerance` of each value, or of the largest one."""
    np.testing.assert_allclose(found, ours, rtol=tolerance, atol=tolerance * np.abs(ours).max())


def step(tab, times: int) -> None:
    """Press the button Step of the live toy."""
    for _ in range(times):
        tab.get_by_role("button", name="Step", exact=True).click()


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
