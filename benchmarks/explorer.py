"""Time the explorer in Chromium: `python benchmarks/explorer.py [--moves 60] [--picture docs/explorer.png]`.

From the move of the slider N to the redrawn chart, at N about 1,024 with six curves: the handler of the event (numbers
and paths) and then style, layout and paths made ready to paint, forced by asking for a size. The small pictures and the
table follow in the next frame and are timed apart. In JupyterLab: the same, and what waits for Python: an estimator of
the notebook's own, from the move to its redrawn line. With --picture it only writes the README's picture of the page.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import nbformat
from browser import browser, jupyterlab, run_notebook

from lab.explorer import page

SIX = ["rloo", "grpo", "maxrl", "pacs_anchor", "pkpo(k=16)", "mapo"]
MOVE = """async ([moves, low, high]) => {
  const bar = document.querySelector('.slider.first input[type=range]');
  const chart = document.querySelector('.stage > .chart');
  const frame = () => new Promise((done) => requestAnimationFrame(done)), times = [], later = [];
  const place = (N) => Math.log(N / 2) / Math.log(512);
  for (let i = 0; i < moves; i++) {
    await frame();
    await frame();
    bar.value = place(low + (high - low) * i / (moves - 1));
    const start = performance.now();
    bar.dispatchEvent(new Event('input'));
    chart.getBoundingClientRect();
    chart.querySelector('.lines path').getBBox();
    times.push(performance.now() - start);
    await frame();
    const again = performance.now();
    await new Promise((done) => setTimeout(done));
    later.push(performance.now() - again);
  }
  return [times, later];
}"""
ASK = """async ([moves, name]) => {
  const bar = document.querySelector('.slider.first input[type=range]'), times = [];
  const drawn = () => document.querySelector(`.stage > .chart path[data-name="${name}"]`)?.getAttribute('d');
  for (let i = 0; i < moves; i++) {
    await new Promise((done) => setTimeout(done, 600));
    const before = drawn(), N = 20 + i;
    const start = performance.now();
    bar.value = Math.log(N / 2) / Math.log(512);
    bar.dispatchEvent(new Event('input'));
    while (!drawn() || drawn() === before) await new Promise((done) => setTimeout(done, 1));
    times.push(performance.now() - start);
  }
  return times;
}"""


def row(what: str, times: list[float]) -> None:
    times = sorted(times)
    low, high = times[len(times) // 10], times[int(0.9 * len(times))]
    print(f"| {what} | {low:.1f} | {statistics.median(times):.1f} | {high:.1f} |", flush=True)


def picture(path: Path) -> None:
    """The page in the light, as it opens but for one member of the family."""
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        tab = running.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        tab.goto(page.write(Path(folder) / "explorer.html", {"N": 32, "objectives": ["power(a=0.75, b=0.25)"]}))
        tab.wait_for_selector(".lab-explorer[data-revision]")
        tab.wait_for_timeout(500)
        tab.screenshot(path=path, full_page=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    if arguments.picture:
        picture(arguments.picture)
        return
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        print(f"Chromium {running.version}, {platform.machine()}, load {os.getloadavg()[0]:.1f}; ms\n")
        print("| from the move to the redrawn chart | 10% | median | 90% |\n|---|---|---|---|")
        for N in (32, 1024 - 2 * arguments.moves):
            for quantity in ("weight", "objective", "efficiency"):
                tab = running.new_page(viewport={"width": 1300, "height": 1000})
                state = {"curves": SIX, "quantity": quantity, "y": "log" if quantity == "weight" else "linear"}
                tab.goto(page.write(Path(folder) / "page.html", state))
                tab.wait_for_timeout(500)
                times, later = tab.evaluate(MOVE, [arguments.moves, N, N + 2 * arguments.moves])
                row(f"page, six curves, {quantity}, N from {N}", times)
                if quantity == "weight":
                    row(f"the small pictures and the table after it, N from {N}", later)
                tab.close()
        cells = ["from lab import from_weight\nimport numpy as np\nfrom lab.explorer import Explorer",
                 "mine = from_weight(lambda p: np.exp(-5 * p) + (p > 0.5), N=16)",
                 "Explorer(own=[mine], curves=[mine.label, 'rloo', 'grpo', 'maxrl', 'pacs_anchor', 'mapo'])"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3"}})
        with jupyterlab(Path(folder) / "jupyter") as (address, books):
            nbformat.write(book, books / "book.ipynb")
            tab = running.new_page(viewport={"width": 1500, "height": 1100})
            run_notebook(tab, f"{address}lab/tree/book.ipynb")
            times = tab.evaluate(ASK, [min(arguments.moves, 20), "drawn w(p), N=16"])
            row("JupyterLab, an estimator that only Python knows, N from 20", times)
            tab.close()


if __name__ == "__main__":
    main()
