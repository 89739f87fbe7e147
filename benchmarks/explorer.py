"""Time the explorer in Chromium: `python benchmarks/explorer.py [--moves 60]`.

From the move of the slider N to the redrawn chart, at N about 1,024 with six curves: the handler of
the event (numbers and paths) and then style and layout, forced by asking for a size. The small
pictures and the table follow in the next frame. In JupyterLab: an estimator that only Python knows,
from the move to its redrawn line, at sizes that were sent ahead (N up to 128) and at others, which
Python must be asked for.
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
  const times = [];
  const place = (N) => Math.log(N / 2) / Math.log(2048);
  for (let i = 0; i < moves; i++) {
    await new Promise((done) => setTimeout(done, 60)); // the browser has painted the last move
    bar.value = place(low + (high - low) * i / (moves - 1));
    const start = performance.now();
    bar.dispatchEvent(new Event('input'));
    chart.getBoundingClientRect();
    chart.querySelector('.lines path').getBBox();
    times.push(performance.now() - start);
  }
  return times;
}"""
ASK = """async ([moves, name, first]) => {
  const bar = document.querySelector('.slider.first input[type=range]'), times = [];
  const line = () => document.querySelector(`.stage > .chart path[data-name="${name}"]`);
  const drawn = () => line()?.getAttribute('d');
  for (let i = 0; i < moves; i++) {
    await new Promise((done) => setTimeout(done, 600));
    const before = drawn(), N = first + i;
    const start = performance.now();
    bar.value = Math.log(N / 2) / Math.log(2048);
    bar.dispatchEvent(new Event('input'));
    while (!drawn() || drawn() === before) await new Promise((done) => setTimeout(done, 1));
    times.push(performance.now() - start);
  }
  return times;
}"""
EMPTY = """async (moves) => {
  const times = [];
  const context = window.jupyterapp.shell.currentWidget.context;
  const kernel = context.sessionContext.session.kernel;
  for (let i = 0; i < moves; i++) {
    await new Promise((done) => setTimeout(done, 300));
    const start = performance.now();
    await kernel.requestExecute({ code: 'pass' }).done;
    times.push(performance.now() - start);
  }
  return times;
}"""


def row(label: str, times: list[float]) -> None:
    times = sorted(times)
    low, high = times[len(times) // 10], times[int(0.95 * len(times))]
    print(f"| {label} | {low:.1f} | {statistics.median(times):.1f} | {high:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=60)
    arguments = parser.parse_args()
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        print(
            f"Chromium {running.version}, {platform.machine()}, load {os.getloadavg()[0]:.1f}; ms\n"
        )
        print("| from the move to the redrawn chart | 10% | median | 95% |\n|---|---|---|---|")
        for N in (32, 1024 - 2 * arguments.moves):
            for quantity in ("weight", "objective", "efficiency"):
                tab = running.new_page(viewport={"width": 1300, "height": 1000})
                state = {
                    "curves": SIX,
                    "quantity": quantity,
                    "y": "log" if quantity == "weight" else "linear",
                }
                tab.goto(page.write(Path(folder) / "page.html", state))
                tab.wait_for_timeout(500)
                span = [N, N + 2 * arguments.moves]
                tab.evaluate(MOVE, [20, *span])  # the browser compiles what is used often
                times = tab.evaluate(MOVE, [arguments.moves, *span])
                row(f"page, six curves, {quantity}, N from {N}", times)
                tab.close()
        cells = [
            "import lab\nfrom lab.explorer import Explorer",
            "mine = lab.Estimator('mine', lambda N: lab.estimator('maxrl_loo').coefficients(N))",
            (
                "Explorer(own=[mine], curves=[mine.label, 'rloo', 'grpo', 'maxrl', 'pacs_anchor',"
                " 'mapo'])"
            ),
        ]
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        with jupyterlab(Path(folder) / "jupyter") as (address, books):
            nbformat.write(book, books / "book.ipynb")
            tab = running.new_page(viewport={"width": 1500, "height": 1100})
            run_notebook(tab, f"{address}lab/tree/book.ipynb")
            times = tab.evaluate(EMPTY, min(arguments.moves, 20))
            row("JupyterLab, an empty cell, for comparison", times)
            for N, kind in ((20, "sent ahead, N from 20"), (200, "asked for, N from 200")):
                times = tab.evaluate(ASK, [min(arguments.moves, 20), "mine", N])
                row(f"JupyterLab, an estimator that only Python knows, {kind}", times)
            tab.close()


if __name__ == "__main__":
    main()
